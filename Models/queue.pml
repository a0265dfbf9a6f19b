/* A queue: inbox, tickets, batches, reclaim, collect, continue with (section "Queue" of README.md).

   part                      represents
   enter ... leave           OperationQueue.update: accept the inbox; the change; issue tickets, publish whether the
                             inbox is served, check it once more
   add, becameReady, leaves, Admission, under the queue's lock
   remove, issue, reclaim,
   collect, close
   Worker                    Visit (request work), a batch's thread (take, begin, end, publish, continue with), an
                             operation that runs separately
   init, Adder, Canceller,   user threads: addOperations; addOperation; cancel; isSuspended; addDependency on an
   Suspender, Depender,      operation in the queue; qualityOfService
   Raiser
   Stopper                   cancelAllOperations (StoppedOperations)

   Each access without the queue's lock (to state words, heads, flags, published results, the inbox, tickets on their
   way) is a separate step. Data that the lock protects changes together with the previous step.

   Left out: weak memory; priorities and barriers (the lowest number starts first); time: a batch can be reclaimed at
   any visit (LONG), a visit can end early (EARLY), a batch takes any number up to CAP; the pool, which assigns tickets
   to free workers (pool.pml); links except the walk over dependents (end.pml); `current` of a batch, which shows the
   queue that an operation has finished shortly before that is published.

   Proved: no operation runs twice, and none is lost. At most LIMIT run at the same time. None is taken after a
   suspension has returned. Operations that wait when all are cancelled together do not start, unless their overrides
   leave them uncancelled: these can start afterward. None is taken from a batch that the queue has released. At rest,
   all have left and no ticket is owed, even if bodies wait until another has begun. Every run ends. README.md lists
   the numbers of states.
   */

#ifndef N
#define N 4             /* operations */
#endif
#ifndef W
#define W 2             /* workers */
#endif
#ifndef CAP
#define CAP 2           /* the most operations that a batch takes */
#endif
#ifndef CLASSES
#define CLASSES 1       /* classes of workers: worker w is of class w % CLASSES */
#endif
#ifndef LIMIT
#define LIMIT 9         /* none: more than there are operations */
#endif
#ifndef DEPENDENTS
#define DEPENDENTS 0    /* the dependents of operation 0; this and those below are sets of operations */
#endif
#ifndef WAITERS
#define WAITERS 0       /* their bodies wait until operation TARGET has begun */
#endif
#ifndef COMPLETERS
#define COMPLETERS 0    /* the batch's thread runs user code after their end, which waits for the same */
#endif
#ifndef RELEASERS
#define RELEASERS 0     /* releasing their work waits for the same: in a batch; or after its last operation */
#endif
#ifndef TARGET
#define TARGET 3
#endif
#ifndef SPARE
#define SPARE false     /* if all workers wait, a ticket in the pool is enough: the pool would send another */
#endif
#ifndef SINGLES
#define SINGLES 0       /* do not go into batches */
#endif
#ifndef ADDED
#define ADDED NONE      /* added by operation 0, while that runs */
#endif
#ifndef ADDERS
#define ADDERS 0        /* each added by a separate thread; the others are added together */
#endif
#ifndef CANCELS
#define CANCELS 0       /* each cancelled by a separate thread */
#endif
#ifndef CODED
#define CODED 0         /* have cancellation code, and do not go into batches (SINGLES) */
#endif
#ifndef LOWS
#define LOWS 0          /* for workers of class 1 */
#endif
#ifndef STUBBORN
#define STUBBORN 0      /* their overrides of cancel() do not cancel them (STOPPER) */
#endif
#ifndef URGENT
#define URGENT 0        /* for workers of class 0, and more urgent than the queue */
#endif

#ifdef DEPENDER
#define HAS_DEPENDENTS true
#else
#define HAS_DEPENDENTS (DEPENDENTS != 0)
#endif

#define ALL ((1 << N) - 1)
#define bit(x) (1 << (x))
#define has(set, x) (((set) >> (x)) & 1)
#define without(set, x) ((set) & ~bit(x))
#define rest(set) ((set) & ((set) - 1))
/* The least element, and the number of elements, of a set within 0...3: tables of two bits for each set. */
#define first(set) ((303239696 >> (2 * (set))) & 3)
#define size(set) (((59796 >> (2 * ((set) & 7))) & 3) + (((set) >> 3) & 1))
#define least(x, y) ((x) < (y) -> (x) : (y))
#define EXHAUSTED 7
#ifdef FAULT_OFFERED
#define OFFERED 0
#else
#define OFFERED offered
#endif
#define NONE 15

/* The state words of the operations: one atomic each, here in several variables. */
#define PENDING 0
#define STARTING 1
#define EXECUTING 2
#define FINISHED 3
byte phase[N], count[N];                /* count: dependencies that have not finished */
byte cancelled, enqueued, listed, offered, low = LOWS;
byte dependents = DEPENDENTS;           /* of operation 0, under the lock of its links */
bool links;

/* The queue's state, under its lock. */
#define HELD 1
#define READY 2
#define TAKEN 3
#define LEAVING 4                       /* cancelled: in the list of those, or started from there */
#define RUNNING 5
#define GONE 6
#define WAITING 7                       /* cancelled, with cancellation code: waits for a concurrency slot */
bool lock, suspended;
byte stopping;                          /* calls that hold the queue */
byte place[N], ready[2], leaving, coded, running, tickets[2], busy;
byte o, m, k, q, n;                     /* of the thread that holds the lock */

/* Used without the lock. */
byte inbox, sent[2], mayContinue;       /* sent: tickets in the pool; mayContinue: of each batch */
bool served;                            /* servesInbox */
typedef Batch { byte items[CAP]; byte count, size, head, finished, newlyReady }
Batch batch[W];

/* For the proof. */
byte begun, left, inside, blocked;
byte halted[2], continuing;             /* must not begin, by call; about to begin as if before any change */
bool hasSuspended;
hidden byte i, j;

/* ---- Under the queue's lock ---- */

#define order(x) (CLASSES > 1 && has(low, x))
#define started (running + size(busy))
#define open (!suspended && stopping == 0 && started < LIMIT)
#define isStartable(x) (count[x] == 0 || has(cancelled, x))
/* While an urgent operation is ready, workers of class 0 start everything that is ready (Admission.floor). */
#define holds0 (LIMIT != 9 && (ready[0] & URGENT) != 0)
/* The operations that workers of a class can take. */
#define offer(c) (holds0 -> ((c) == 0 -> ready[0] | ready[1] : 0) : ready[c])
/* With a limit, it is the turn of the class of the first operation; of the normal class while cancelled ones wait. */
#define isNext(c) (offer(c) != 0 && (LIMIT == 9 || (coded != 0 -> (c) == 0 : \
  offer(1 - (c)) == 0 || first(offer(c)) < first(offer(1 - (c))))))
/* Whether workers of a class are requested. */
#ifdef FAULT_FLOOR
#define isCalled(c) (ready[c] != 0 && (ready[1 - (c)] == 0 || first(ready[c]) < first(ready[1 - (c)])))
#else
#define isCalled(c) isNext(c)
#endif

inline insert(x) { place[x] = READY; ready[order(x)] = ready[order(x)] | bit(x) }
inline withdraw(x) {
  ready[0] = without(ready[0], x); ready[1] = without(ready[1], x);
  leaving = without(leaving, x); coded = without(coded, x) }
inline goes(x) {
  if
  :: has(CODED, x) -> coded = coded | bit(x); place[x] = WAITING
  :: else -> leaving = leaving | bit(x); place[x] = LEAVING
  fi }

inline becameReady(x) {
  if
  :: place[x] == HELD ->
     d_step { offered = offered | bit(x); if :: phase[x] == PENDING -> insert(x) :: else fi }
     do :: mayContinue != 0 -> mayContinue = rest(mayContinue) :: else -> break od
  :: else
  fi
}

inline reclaim(b) {
  if :: has(mayContinue, b) -> mayContinue = without(mayContinue, b) :: else fi;
  d_step {                              /* the exchange of `head` */
    i = batch[b].head; j = i; batch[b].head = EXHAUSTED;
    do :: j < batch[b].count -> insert(batch[b].items[j]); j++ :: else -> break od;
    batch[b].count = least(i, batch[b].count); i = 0; j = 0 }
}

inline reclaimAll(batches) {
  q = batches;
  do :: q != 0 -> reclaim(first(q)); q = rest(q) :: else -> break od
}

inline remove(x) {                      /* the queue releases an operation that has finished */
  assert(!has(left, x) && phase[x] == FINISHED);
  if :: place[x] == RUNNING -> running-- :: else fi;
  withdraw(x); place[x] = GONE; left = left | bit(x)
}

inline collect(batches) {               /* newly ready operations are noted first, then finished ones */
  m = batches;
  do
  :: m != 0 ->
     if
     :: d_step { batch[first(m)].newlyReady != 0 ->
          o = first(batch[first(m)].newlyReady); batch[first(m)].newlyReady = rest(batch[first(m)].newlyReady) }
        becameReady(o); o = 0
     :: d_step { batch[first(m)].newlyReady == 0 -> m = rest(m) }
     fi
  :: else -> break
  od;
  m = batches;
  do
  :: d_step { m != 0 ->
       do
       :: batch[first(m)].finished != 0 ->
          i = first(batch[first(m)].finished); batch[first(m)].finished = rest(batch[first(m)].finished); remove(i)
       :: else -> break
       od;
       i = 0; m = rest(m) }
  :: m == 0 -> break
  od
}

inline close(b) { reclaim(b); collect(bit(b)); busy = without(busy, b) }

inline leaves(x) {                      /* it was cancelled */
  if :: place[x] == TAKEN -> reclaimAll(busy) :: else fi;
  atomic {
    if
    :: place[x] == READY || place[x] == HELD -> withdraw(x); goes(x)
    :: else
    fi }
  if :: place[x] == WAITING -> reclaimAll(busy) :: else fi
}

inline add(x) {                         /* `book` is one step, and returns the state word from before */
  if
  :: d_step { has(cancelled, x) ->
       enqueued = enqueued | bit(x); listed = listed | bit(x); goes(x) }
     if :: place[x] == WAITING -> reclaimAll(busy) :: else fi
  :: d_step { !has(cancelled, x) && count[x] == 0 ->
       enqueued = enqueued | bit(x); listed = listed | bit(x); place[x] = HELD }
     becameReady(x)
  :: d_step { !has(cancelled, x) && count[x] != 0 ->
       enqueued = enqueued | bit(x); listed = listed | bit(x); place[x] = HELD }
  fi
}

inline takeIn() {
  if
  :: d_step { inbox != 0 -> k = inbox; inbox = 0 }
     do :: k != 0 -> add(first(k)); k = rest(k) :: else -> break od
  :: inbox == 0
  fi
}

inline enter() { atomic { !lock -> lock = true } takeIn() }

inline issue(c) {                       /* tickets for a class: n is how many operations it could start */
  m = (open -> busy : 0);
  do
  :: m != 0 && first(m) % CLASSES == c ->
     d_step { i = batch[first(m)].head;
       n = n + (batch[first(m)].count > i -> batch[first(m)].count - i : 0); i = 0 }
#ifdef FAULT_UNCOUNTED
     m = rest(m)
  :: m != 0 && first(m) % CLASSES != c -> m = rest(m)
#else
     /* After `head`, so everything that was published before its thread took the last operation is visible. */
     d_step { n = n + size(batch[first(m)].newlyReady & (c == 1 -> low : ~low)); m = rest(m) }
  :: m != 0 && first(m) % CLASSES != c ->
     d_step { n = n + size(batch[first(m)].newlyReady & (c == 1 -> low : ~low)); m = rest(m) }
#endif
  :: m == 0 -> break
  od;
  atomic {
    if
    :: open && (isCalled(c) || offer(c) == 0 && (LIMIT == 9 || offer(1 - c) == 0) || c == 0 && coded != 0) ->
#ifndef FAULT_CODED
       n = n + (c == 0 -> size(coded) : 0);
#endif
       n = least(n + size(offer(c)), LIMIT - started)
    :: else -> n = 0
    fi;
    if :: c == 0 -> n = n + size(leaving) :: else fi;
    if :: n > tickets[c] -> new[c] = new[c] + n - tickets[c]; tickets[c] = n :: else fi;
    n = 0 }
}

#define isServed (tickets[0] + tickets[1] > 0 || started >= LIMIT && !suspended && stopping == 0)

inline leave() {
  if
#ifndef FAULT_EMPTY
  :: (listed & ~left) == 0 -> takeIn()
#endif
  :: else
  fi;
  /* A wait for the empty queue ends: operations that a finished operation added have been accepted. */
  assert((listed & ~left) != 0 || ADDED == NONE || !has(left, 0) || has(listed, ADDED));
#if URGENT
  if                                    /* Admission.takeRaised: operations that workers of class 1 have not started */
  :: holds0 && started >= LIMIT -> q = busy;
     do
     :: q != 0 -> if :: first(q) % CLASSES == 1 -> reclaim(first(q)) :: else fi; q = rest(q)
     :: q == 0 -> break
     od
  :: else
  fi;
#endif
  do
  :: issue(0);
#if CLASSES > 1
     issue(1);
#endif
     if
     :: isServed == served -> break
     :: isServed && !served -> served = true; break
     :: !isServed && served -> served = false;
#ifdef FAULT_INBOX
        break
#else
        if :: inbox != 0 -> takeIn() :: inbox == 0 -> break fi
#endif
     fi
  od;
  lock = false;
  if :: new[0] > 0 -> d_step { sent[0] = sent[0] + new[0]; new[0] = 0 } :: else fi;
  if :: new[1] > 0 -> d_step { sent[1] = sent[1] + new[1]; new[1] = 0 } :: else fi
}

/* ---- Workers ---- */

inline begin(x) { assert(!has(begun | halted[0] | halted[1], x) && !has(left, x)); begun = begun | bit(x); phase[x] = EXECUTING }

inline wait() { blocked++; (has(begun, TARGET) || SPARE && blocked == W && sent[0] > 0); blocked-- }

inline perform(x) {
  atomic { inside++; assert(inside <= LIMIT) }
  if
  :: x == 0 && ADDED != NONE ->
     if
     :: served -> enqueued = enqueued | bit(ADDED); inbox = inbox | bit(ADDED);
        if :: !served -> enter(); leave() :: served fi
     :: !served -> enter(); add(ADDED); leave()
     fi
  :: else
  fi;
  if
  :: has(WAITERS, x) ->
#ifdef LIBRARY_WAIT
     enter(); if :: has(busy, me) -> reclaim(me) :: else fi; leave();
#endif
     wait()
  :: else
  fi;
  inside--
}

inline finish(x) {
  if
  :: count[x] > 0 -> atomic { !links -> dependents = without(dependents, x) }
  :: else
  fi;
  phase[x] = FINISHED
}

inline release(x) {                     /* after it has left: `made` are the operations that became ready */
  if
  :: x == 0 && HAS_DEPENDENTS ->
     atomic { !links -> links = true; walk = dependents; dependents = 0 }
     do
     :: d_step { walk != 0 ->
          i = first(walk); walk = rest(walk); assert(count[i] > 0); count[i]--;
          if
          :: count[i] == 0 && has(enqueued & ~cancelled, i) && phase[i] == PENDING -> made = made | bit(i)
          :: else
          fi;
          i = 0 }
     :: walk == 0 -> break
     od;
     links = false
  :: else
  fi
}

inline notifyReady() { enter(); becameReady(first(made)); made = rest(made); leave() }

proctype Worker(byte me) {
  byte new[2], x = NONE, made, walk; bool holds, again, completes, keeps, kept;
  byte c = me % CLASSES;
endIdle:
  atomic { sent[c] > 0 -> sent[c]--; holds = true }

ask:
  enter();
  if :: holds -> d_step { tickets[c]--; holds = false } :: else fi;
  if :: has(busy, me) -> close(me) :: else fi;
#ifdef EARLY
  if :: skip :: leave(); goto endIdle fi;
#endif
  if :: kept && LIMIT != 9 -> leave(); wait(); kept = false; goto ask :: else fi;
  x = busy;
#ifdef LONG
  do :: x != 0 -> if :: reclaim(first(x)) :: skip fi; x = rest(x) :: else -> break od;
#endif
  collect(busy); x = NONE;
claim:
  if
  :: c == 0 && leaving != 0 -> x = first(leaving)
  :: c == 1 || leaving == 0 ->
     if
     :: open && c == 0 && coded != 0 -> x = first(coded)
     :: open && (c == 1 || coded == 0) && isNext(c) -> x = first(offer(c))
     :: else
     fi
  fi;
  if
  :: x == NONE -> skip
  :: x != NONE && place[x] == READY && !has(SINGLES, x) ->
     atomic { x = NONE; again = false;
       batch[me].count = 0; busy = busy | bit(me);
       do
       :: batch[me].count < CAP && isNext(c) && !has(SINGLES, first(offer(c))) ->
          i = first(offer(c)); ready[0] = without(ready[0], i); ready[1] = without(ready[1], i); place[i] = TAKEN;
          batch[me].items[batch[me].count] = i; batch[me].count++
       :: batch[me].count > 0 -> break
       od;
       i = 0; batch[me].size = batch[me].count;
#ifdef FAULT_FIRST_LOOSE
       batch[me].head = 0;
#else
#ifdef FAULT_FIRST_KEPT
       batch[me].head = 1; x = batch[me].items[0];
#else
       /* The objects that the thread must release first might wait for the operations that it takes. */
       if :: kept -> batch[me].head = 0 :: else -> batch[me].head = 1; x = batch[me].items[0] fi;
#endif
#endif
       if :: ready[0] == 0 && ready[1] == 0 && coded == 0 -> mayContinue = mayContinue | bit(me) :: else fi }
     leave();
     if :: kept -> wait(); kept = false :: else fi;
     if :: x == NONE -> goto take :: else -> goto taken fi
  :: kept && x != NONE && (place[x] == LEAVING || has(SINGLES, x)) -> /* not with one in hand */
     x = NONE; leave(); wait(); kept = false; goto ask
  :: !kept && x != NONE && (place[x] == LEAVING || place[x] == WAITING || has(SINGLES, x)) ->
     d_step { withdraw(x); again = false;
       if
       :: phase[x] == PENDING && isStartable(x) ->
          phase[x] = STARTING; if :: place[x] == READY || place[x] == WAITING -> place[x] = RUNNING; running++ :: else fi
       :: else -> place[x] = HELD
       fi }
     if :: place[x] != HELD -> leave(); goto single :: else -> x = NONE; goto claim fi
  fi;
  if
  :: busy != 0 && !again ->
     reclaimAll(busy);
#ifndef FAULT_LOST_READY
     collect(busy);
#endif
     again = true; goto claim
  :: else -> again = false
  fi;
  leave();
  if :: kept -> wait(); kept = false :: else fi;
  goto endIdle;

take:                                   /* the batch's thread, without the lock: fetch-add of `head` */
  if
  :: d_step { batch[me].head < batch[me].size ->
       x = batch[me].items[batch[me].head]; batch[me].head++; assert(!hasSuspended && !has(left, x)) }
  :: batch[me].head >= batch[me].size -> goto ask
  fi;
taken:
  if
  :: d_step { phase[x] == PENDING && count[x] == 0 && !has(cancelled, x) -> begin(x) }
  :: d_step { phase[x] != PENDING || count[x] != 0 || has(cancelled, x) -> skip }
     enter(); close(me);                /* claimTaken */
     if
     :: d_step { phase[x] == PENDING && isStartable(x) -> phase[x] = STARTING; place[x] = RUNNING; running++ }
        leave(); goto single
     :: d_step { phase[x] != PENDING || !isStartable(x) -> place[x] = HELD }
        if :: isStartable(x) -> becameReady(x) :: !isStartable(x) fi;
        x = NONE; leave(); goto ask
     fi
  fi;
runs:
  perform(x); finish(x);
  d_step { batch[me].finished = batch[me].finished | bit(x) }
  release(x);
  d_step { completes = has(COMPLETERS, x); kept = has(RELEASERS, x); x = NONE }
  if
  :: completes -> goto publish
  :: d_step { !completes && made != 0 && rest(made) == 0 && has(mayContinue, me) -> assert(!hasSuspended); x = first(made);
       continuing = continuing | bit(x) }
     if :: batch[me].head >= batch[me].size && batch[me].newlyReady == 0 && inbox == 0 && c == order(x) :: else ->
       goto publish fi;
     if
     :: d_step { phase[x] == PENDING && count[x] == 0 && !has(cancelled | OFFERED, x) && has(listed, x) ->
          begin(x); made = 0 }
        goto runs
     :: d_step { phase[x] != PENDING || count[x] != 0 || has(cancelled | OFFERED, x) || !has(listed, x) -> skip }
     fi
  :: !completes && (made == 0 || rest(made) != 0 || !has(mayContinue, me))
  fi;
publish:
  x = NONE;
  do
  :: made != 0 && LIMIT == 9 && has(listed & ~cancelled, first(made)) ->
     d_step { batch[me].newlyReady = batch[me].newlyReady | bit(first(made)); made = rest(made) }
  :: made != 0 && (LIMIT != 9 || !has(listed & ~cancelled, first(made))) -> notifyReady()
  :: made == 0 -> break
  od;
  if
  :: completes ->
     completes = false;
     if
     :: batch[me].head < batch[me].size -> skip     /* a read-modify-write: isAtEnd */
     :: batch[me].head >= batch[me].size ->
#ifdef FAULT_UNCLOSED
        skip
#else
        enter(); close(me); leave()
#endif
     fi;
     wait()
  :: !completes
  fi;
  /* Not with a limit: the batch keeps its place, so code that blocks on a semaphore here could wait forever. */
  if :: kept && LIMIT == 9 && batch[me].head < batch[me].size -> wait(); kept = false :: else fi;
#ifdef EARLY
  if :: goto take :: goto ask fi;
#else
  goto take;
#endif

single:
  if
  :: d_step { has(cancelled, x) -> begun = begun | bit(x) }
     if :: has(CODED, x) -> assert(place[x] == RUNNING); perform(x) :: else fi
  :: d_step { !has(cancelled, x) -> begin(x) } perform(x)
  fi;
  finish(x);
  /* With a limit, it keeps its slot until it is the turn of the operations that become ready. */
  enter(); keeps = (LIMIT != 9 && x == 0 && HAS_DEPENDENTS && place[x] == RUNNING); remove(x);
  if :: keeps -> running++ :: else fi;
  leave();
  release(x); x = NONE;
  do :: made != 0 -> notifyReady() :: else -> break od;
  if :: keeps -> enter(); running--; keeps = false; leave() :: else fi;
  goto ask
}

/* ---- User threads ---- */

proctype Adder(byte x) {
  byte new[2];
  if
  :: served ->
     enqueued = enqueued | bit(x);
     inbox = inbox | bit(x);
     if :: !served -> enter(); leave() :: served fi;
     if :: has(cancelled, x) -> enter(); leave() :: !has(cancelled, x) fi
  :: !served -> enter(); add(x); leave()
  fi
}

proctype Canceller(byte x) {
  byte new[2]; bool tells;
  d_step { if :: phase[x] != FINISHED -> cancelled = cancelled | bit(x); tells = phase[x] == PENDING && has(enqueued, x)
              :: else fi }
  if :: tells && phase[x] != FINISHED -> enter(); leaves(x); leave() :: !tells || phase[x] == FINISHED fi
}

proctype Suspender() {
  byte new[2];
  enter(); suspended = true; reclaimAll(busy); leave();
  hasSuspended = true; hasSuspended = false;
  enter(); suspended = false; leave()
}

inline hold() { atomic { !lock -> lock = true } }

#ifdef FAULT_UNHELD
#define HOLD 0
#else
#define HOLD 1
#endif
#ifdef FAULT_ONE_MARK
byte shared;                            /* one mark for all calls */
#define MARKED shared
#else
#define MARKED marked
#endif

inline stop(x) {                        /* `cancel()` or `stop()`, then the queue's lists */
  d_step {
    stops = phase[x] == PENDING && has(listed, x) && !has(cancelled | MARKED, x);
    if
    :: stops && has(STUBBORN, x) -> MARKED = MARKED | bit(x); count[x]++
    :: stops && !has(STUBBORN, x) -> cancelled = cancelled | bit(x)
    :: else
    fi }
  atomic {
    if
    :: stops && has(STUBBORN, x) && place[x] == READY -> withdraw(x); place[x] = HELD
    :: stops && !has(STUBBORN, x) && (place[x] == READY || place[x] == HELD) -> withdraw(x); goes(x)
    :: else
    fi }
  if :: stops && place[x] == WAITING -> reclaimAll(busy) :: else fi
}

proctype Stopper(byte me) {             /* a section for each operation: none starts before all of them are stopped */
  byte new[2], x, marked; bool stops;
  enter(); leave();
  hold();
  stopping = stopping + HOLD;
  reclaimAll(busy);
#ifndef FAULT_UNMARKED
  /* Threads need no lock to begin what they have taken. */
  do :: x < N -> if :: place[x] == TAKEN && !has(marked, x) -> stop(x) :: else fi; x++ :: else -> x = 0; break od;
#endif
  skip;
  d_step {
    do
    :: x < N ->
       if
       :: phase[x] == PENDING && has(listed, x) && !has(continuing, x) -> halted[me] = halted[me] | bit(x)
       :: else
       fi;
       x++
    :: else -> x = 0; break
    od }
  lock = false;
  do :: x < N -> hold(); if :: !has(marked, x) -> stop(x) :: else fi; lock = false; x++ :: else -> x = 0; break od;
#ifdef FAULT_UNCALLED
  hold(); stopping = stopping - HOLD; lock = false;
#else
  enter(); stopping = stopping - HOLD; leave();
#endif
  do
  :: x < N ->
     if
     :: d_step { has(MARKED, x) -> halted[me] = without(halted[me], x); MARKED = without(MARKED, x); count[x]-- }
        if
        :: phase[x] == PENDING && count[x] == 0 -> enter(); becameReady(x); leave()
        :: phase[x] != PENDING || count[x] != 0
        fi
     :: !has(MARKED, x)
     fi;
     x++
  :: else -> break
  od
}

proctype Depender(byte x) {             /* operation x gets a dependency on operation 0 */
  atomic { !links -> links = true }
  if
  :: phase[0] != FINISHED ->
     d_step { if :: phase[x] == PENDING -> count[x]++; dependents = dependents | bit(x) :: else fi }
  :: phase[0] == FINISHED
  fi;
  links = false
}

proctype Raiser(byte x) {               /* operation x is for normal workers from now on */
  byte new[2];
  low = without(low, x);
  enter();
  if :: place[x] == TAKEN -> reclaimAll(busy) :: else fi;
  atomic { if :: place[x] == READY -> withdraw(x); insert(x) :: else fi }
  leave()
}

init {
  byte new[2], x;
  atomic {
    do :: x < N -> count[x] = has(DEPENDENTS, x); x++ :: else -> x = 0; break od;
    do :: x < W -> run Worker(x); x++ :: else -> x = 0; break od;
    do :: x < N -> if :: has(ADDERS, x) -> run Adder(x) :: else fi;
       if :: has(CANCELS, x) -> run Canceller(x) :: else fi; x++
    :: else -> x = 0; break od
#ifdef SUSPENDER
    run Suspender();
#endif
#ifdef STOPPER
    run Stopper(0);
#endif
#ifdef TWO_STOPPERS
    run Stopper(1);
#endif
#ifdef DEPENDER
    run Depender(DEPENDER);
#endif
#ifdef RAISER
    run Raiser(RAISER);
#endif
  }
  enter();
  do :: x < N -> if :: !has(ADDERS, x) && x != ADDED -> add(x) :: else fi; x++ :: else -> x = 0; break od;
  leave();
  /* At rest, all have left, and nothing is owed. */
  left == ALL && !lock && busy == 0 && inbox == 0 && running == 0 && tickets[0] + tickets[1] == 0
}
