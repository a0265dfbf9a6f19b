/* The pools of workers of two classes, one manager, one limit of threads (section "Pool" of README.md).

   part          represents
   change        WorkerPool.changeAndSend: ends the critical section of the caller; wakes and creates workers;
                 then the same for the less urgent pool, if that waits for a thread that this one no longer needs
   Thread        Worker: nextWork, sleep until woken or time is up, retire; an operation's body, which may block
   PoolManager   watches while work waits: finds blocked workers, counts those that compute again, tries again to create
                 threads; ends when no worker is left
   User          submits the work, waits for it, and checks every 50 ms (that is, at any time) whether a thread is owed

   Left out: the queue of the work (with SPINS, each piece is for another queue); spinning workers; `burst`; nice
   values. A check by the manager that would find nothing is no step, so a thread that waits forever is found. Any
   TIMEOUTS sleeps can time out (more would hide a thread that sleeps forever). Creating a thread fails at most FAILS
   times, at any time.
   Proved: all submitted work is taken. No more workers are sent than WIDTH allows. A semaphore is not signaled twice.
   The counts match what the threads do. At rest, no work is left. README.md lists the numbers of states. */

#ifndef POOLS
#define POOLS 1
#endif
#ifndef WIDTH
#define WIDTH 1                         /* workers of a pool that can be at work */
#endif
#ifndef THREADS
#define THREADS 3                       /* the limit */
#endif
#ifndef ITEMS
#define ITEMS 3                         /* pieces of work; item i is for pool i % POOLS */
#endif
#ifndef ANNOUNCED
#define ANNOUNCED 0                     /* the set of items that wait until the last item is taken, and announce that */
#endif
#ifndef UNANNOUNCED
#define UNANNOUNCED 0                   /* the set of items that wait like that without announcing it */
#endif
#ifndef SPINS
#define SPINS 0                         /* the set of items that compute until the last item is taken */
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1
#endif
#define bit(x) (1 << (x))
#define has(set, x) (((set) >> (x)) & 1)
#define without(set, x) ((set) & ~bit(x))
#define rest(set) ((set) & ((set) - 1))
/* The least element, and the number of elements, of a set within 0...3: tables of two bits for each set. */
#define first(set) ((303239696 >> (2 * (set))) & 3)
#define size(set) (((59796 >> (2 * ((set) & 7))) & 3) + (((set) >> 3) & 1))
#define NONE 7

#define COMING 0
#define WORKING 1
#define ASLEEP 2
#define BLOCKED 3
#define FOUND 4                         /* found blocked */
#define ENDING 5                        /* dismissed */
/* Each pool's state, under its lock. */
typedef Pool { bool lock, watched, creationFailed, helpsOut; byte work, sleeping, workers, coming, blocked }
Pool pool[2];
byte status[3], place[3];               /* place: the pool of a thread */
/* Atomics. */
byte threads, hungry, free = 7, born;
/* Semaphores. */
byte wake; bool poolManagerWake;
/* The manager: under its lock. */
bool poolManagerLock, manager;
bool poolManagerFailed; byte fails = FAILS, timeouts = TIMEOUTS;
/* For the proof. */
byte taken, done, inside;               /* inside: threads that sleep in a body */

/* Pool 0 is the more urgent one. After it was denied a thread, pool 1 gets none, and a worker of pool 1 gives up its
   own. The last one does so only if pool 0 has none at all. */
#define yields(p) (POOLS > 1 && (p) == 1 && has(hungry, 0))
#define givesUp(p) (yields(p) && (atWork(1) > 1 || pool[0].workers == 0))
#define atWork(p) (pool[p].workers - size(pool[p].sleeping) - pool[p].blocked)
#define missing(p) (size(pool[p].work) > pool[p].coming)
/* One more can come: there is room, or it should help out, and no other is coming. */
#ifdef FAULT_HELPS_ONCE
#define mayCome(p) (atWork(p) < WIDTH + pool[p].helpsOut)
#else
#define mayCome(p) (atWork(p) < WIDTH || pool[p].helpsOut && pool[p].coming == 0)
#endif
inline enter(p) { atomic { !pool[p].lock -> pool[p].lock = true } }

inline makePoolManager() {
  atomic { !poolManagerLock -> poolManagerLock = true }
  if
  :: !manager -> if :: manager = true :: fails > 0 -> atomic { fails--; poolManagerFailed = true } fi
  :: else
  fi;
  poolManagerLock = false
}

#if POOLS > 1
inline change(p) {
  atomic { q = p; serves = false }
  do
  :: changeOne();
     if :: serves && has(hungry, 1) -> atomic { serves = false; !pool[1].lock -> pool[1].lock = true; q = 1 }
     :: else -> atomic { q = 0; serves = false; break }
     fi
  od
}
#else
#define change(p) changeOne()
#define q 0
#define room true
#endif

/* Ends the critical section of pool q; then, outside it, wakes and creates the workers that it requires. */
inline changeOne() {
  woken = 0; made = 0; asks = false; calls = false;
  do
  :: missing(q) && mayCome(q) && pool[q].sleeping != 0 ->
     atomic { t = first(pool[q].sleeping); pool[q].sleeping = rest(pool[q].sleeping);
       status[t] = COMING; pool[q].coming++; woken = woken | bit(t); t = NONE; assert(atWork(q) <= WIDTH || pool[q].helpsOut) }
  :: missing(q) && mayCome(q) && pool[q].sleeping == 0 ->
#if POOLS > 1
     room = !yields(q);
#endif
     if
     :: atomic { room && threads < THREADS ->
          threads++; t = first(free); free = without(free, t); place[t] = q; status[t] = COMING;
          pool[q].workers++; pool[q].coming++; made = made | bit(t); t = NONE }
     :: atomic { !room || threads >= THREADS -> skip }
#ifdef FAULT_HUNGRY
        hungry = hungry | bit(q); asks = true; break
#else
        if :: has(hungry, q) -> asks = true; break :: else -> hungry = hungry | bit(q) fi   /* and once more */
#endif
     fi
  :: !missing(q) || !mayCome(q) ->
#if POOLS > 1 && !defined(FAULT_SATISFIED)
     atomic { serves = (q == 0 && has(hungry, 0)); hungry = without(hungry, q) }
#else
     hungry = without(hungry, q);
#endif
     break
  od;
  if :: missing(q) && !pool[q].watched -> pool[q].watched = true; calls = true :: else fi;
#if POOLS > 1
  room = false;
#endif
  pool[q].lock = false;
  do :: woken != 0 -> atomic { assert((wake & woken) == 0); wake = wake | bit(first(woken));
    woken = rest(woken) } :: else -> break od;
  if :: made != 0 && !manager -> calls = true :: else fi;
  do
  :: made != 0 ->
     t = first(made); made = rest(made);
     if
     :: born = born | bit(t)
     :: fails > 0 -> fails--;
        enter(q); atomic { pool[q].workers--; pool[q].coming--; pool[q].creationFailed = true;
          pool[q].watched = true; calls = true; free = free | bit(t) }
        threads--; pool[q].lock = false
     fi;
     t = NONE
  :: else -> break
  od;
  if :: calls -> makePoolManager(); poolManagerWake = true :: else fi;
#if POOLS > 1
  if
  :: asks ->                            /* another pool must dismiss a sleeping worker */
     enter(1 - q);
     if
     :: pool[1 - q].sleeping != 0 ->
        atomic { t = first(pool[1 - q].sleeping); pool[1 - q].sleeping = rest(pool[1 - q].sleeping);
          status[t] = ENDING; wake = wake | bit(t); t = NONE }
     :: else
     fi;
     pool[1 - q].lock = false
  :: else
  fi;
#endif
  asks = false; calls = false
}
#if POOLS > 1
#define LOCALS byte woken, made, q, t = NONE; bool asks, calls, serves, room
#else
#define LOCALS byte woken, made, t = NONE; bool asks, calls
#endif

proctype Thread(byte me) {
  LOCALS; byte item = NONE; bool looked;
endDead:
  atomic { has(born, me) -> born = without(born, me) }
#define mine place[me]
next:
#ifdef FAULT_SLEEP
  looked = (pool[mine].work == 0);
#endif
  enter(mine);
  atomic {
    if :: status[me] == COMING -> pool[mine].coming-- :: status[me] == FOUND -> pool[mine].blocked-- :: else fi;
    status[me] = WORKING }
#if POOLS > 1
  if :: givesUp(mine) -> goto retire :: else fi;
#endif
  if
#ifdef FAULT_SLEEP
  :: looked || atWork(mine) > WIDTH && !pool[mine].helpsOut || pool[mine].work == 0 -> looked = false;
#else
  :: atWork(mine) > WIDTH && !pool[mine].helpsOut || pool[mine].work == 0 ->
#endif
     if
     :: POOLS > 1 && has(hungry, 1 - mine) -> goto retire
     :: else -> atomic { status[me] = ASLEEP; pool[mine].sleeping = pool[mine].sleeping | bit(me) }
     fi
  :: else -> atomic { item = first(pool[mine].work); pool[mine].work = rest(pool[mine].work);
    assert(!has(taken, item)); taken = taken | bit(item);
    if :: atWork(mine) > WIDTH -> pool[mine].helpsOut = false :: else fi }
  fi;
#ifdef FAULT_SLEEP
  if :: item == NONE -> pool[mine].lock = false :: else -> change(mine) fi;
#else
  change(mine);
#endif
  if
  :: item != NONE ->
     if
     :: has(ANNOUNCED, item) ->
        enter(mine); atomic { if :: status[me] == WORKING -> status[me] = BLOCKED;
          pool[mine].blocked++ :: else fi } change(mine);
        has(taken, ITEMS - 1);
        enter(mine); atomic { if :: status[me] == BLOCKED -> status[me] = WORKING;
          pool[mine].blocked-- :: else fi } pool[mine].lock = false
     :: has(SPINS, item) -> has(taken, ITEMS - 1)
     :: has(UNANNOUNCED, item) ->
        inside = inside | bit(me); atomic { has(taken, ITEMS - 1) -> inside = without(inside, me) }
     :: else
     fi;
     atomic { done = done | bit(item); item = NONE }
     goto next
  :: else
  fi;
endAsleep:
  if
  :: atomic { has(wake, me) -> wake = without(wake, me) }
  :: timeouts > 0 -> timeouts--; enter(mine);
     if
     :: has(pool[mine].sleeping, me) -> pool[mine].sleeping = without(pool[mine].sleeping, me); goto retire
     :: else -> pool[mine].lock = false; atomic { has(wake, me) -> wake = without(wake, me) }
     fi
  fi;
  if :: status[me] == ENDING -> enter(mine) :: else -> goto next fi;
retire:
  atomic { pool[mine].workers--; status[me] = COMING }
  threads--;
  change(mine);
#if POOLS > 1
  if :: has(hungry, 0) -> enter(0); change(0) :: else fi;
  if :: has(hungry, 1) -> enter(1); change(1) :: else fi;
#endif
  poolManagerWake = true;
  free = free | bit(me);
  goto endDead
}

/* The conditions that a check of pool p finds. */
#define finds(p, t) (place[t] == p && !has(free, t) && (status[t] == WORKING && \
  has(inside, t) || status[t] == FOUND && !has(inside, t)))
#ifdef FAULT_NO_RETRY
#define owed(p) false
#else
#define owed(p) (pool[p].creationFailed && missing(p))
#endif
/* Apparently, no work is being taken. */
#if SPINS
#define stands(p) (pool[p].work != 0 && pool[p].coming == 0 && !pool[p].helpsOut)
#else
#define stands(p) false
#endif
#define looks(p) (pool[p].watched && (pool[p].work == 0 || stands(p) || owed(p) || finds(p, 0) || finds(p, 1) || finds(p, 2)))

inline look(p) {
  enter(p);
  if
  :: pool[p].work == 0 -> pool[p].watched = false; pool[p].creationFailed = false; pool[p].helpsOut = false;
     pool[p].lock = false
  :: else ->
     pool[p].creationFailed = false; u = 0;
#if SPINS
     pool[p].helpsOut = true;
#endif
     do
     :: atomic { u < 3 && finds(p, u) ->
          if :: status[u] == WORKING -> status[u] = FOUND; pool[p].blocked++ :: else -> status[u] = WORKING;
            pool[p].blocked-- fi; u++ }
     :: atomic { u < 3 && !finds(p, u) -> u++ }
     :: else -> u = 0; break
     od;
     change(p)
  fi
}

proctype PoolManager() {
  LOCALS; byte u;
endNone:
  manager;
endSleeps:
  do
  :: looks(0) -> look(0)
#if POOLS > 1
  :: looks(1) -> look(1)
#endif
  :: atomic { poolManagerWake -> poolManagerWake = false }
     if                                 /* ends when no worker is left and there is nothing to watch */
     :: threads == 0 && !pool[0].watched && !pool[1].watched ->
        atomic { !poolManagerLock -> poolManagerLock = true }
#ifndef FAULT_MONITOR_END
        if
        :: threads == 0 && !pool[0].watched && !pool[1].watched && !poolManagerWake -> manager = false;
          poolManagerLock = false; goto endNone
        :: else -> poolManagerLock = false
        fi
#else
        manager = false; poolManagerWake = false; poolManagerLock = false; goto endNone
#endif
     :: else
     fi
  od
}

init {
  LOCALS; byte item;
  atomic { run Thread(0); run Thread(1); run Thread(2); run PoolManager() }
  do
  :: item < ITEMS -> enter(item % POOLS); pool[item % POOLS].work = pool[item % POOLS].work | bit(item);
    change(item % POOLS); item++
  :: else -> break
  od;
  do
#ifndef FAULT_NO_RETRY
  :: !manager && (poolManagerFailed || pool[0].creationFailed) && pool[0].watched ->
     poolManagerFailed = false; enter(0); pool[0].creationFailed = false; pool[0].watched = false; change(0)
#if POOLS > 1
  :: !manager && (poolManagerFailed || pool[1].creationFailed) && pool[1].watched ->
     poolManagerFailed = false; enter(1); pool[1].creationFailed = false; pool[1].watched = false; change(1)
#endif
#endif
  :: done == bit(ITEMS) - 1 -> break
  od
}
