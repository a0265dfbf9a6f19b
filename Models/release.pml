/* Who releases what a batch has run (section "Release" of README.md).

   part            stands for
   Runner          the batch's thread: runAll, Operation.end(in:), Batch.publish, and the release of what it owns
   Collector       an update that collects the results of batches, after another thread has waited for an operation
   Lister          OperationQueue.operations
   Watcher         the first observer of the queue
   Reclaimer       a thread that reclaims what the batch has not started, and so takes over the ownership
   Limiter         the same, which sets a limit: a thread that runs users' code in between is to have no place of it

   The thread owns what it has taken, and releases it when it has published that it has finished; the queue's lock
   protects the others from each other, and not from that. Each access to what is used without the lock is a step.

   Left out: weak memory (all four orders in question are sequentially consistent); who owns what the batch continues
   with: the queue does until it has been collected. With CONTINUES the thread may have begun such a one when it releases
   the one before.

   Proved: nothing is looked at or retained that has been released; each is collected once; who has seen that an
   operation has finished finds it collected by the update that follows; who watches hears of each end from then on. */

#ifndef N
#define N 3             /* operations of the batch */
#endif

#define lockQueue() atomic { !lock -> lock = true }
#define NONE 15
#define INSIDE 0
#define OUTSIDE 1
#define ENDED 2

bool lock;
/* Under the lock. */
byte size = N, collected, taken = N, collectedReadied;
bool observed, isActive = true;
/* Used without the lock. */
byte current = NONE, finished, head = 1, readied, presence = INSIDE;
bool settled[N], pinned;
/* What the proof needs. */
byte owners[N] = 1, events, reclaimed, watchedFrom = NONE;
bool limited;

#define bit(x) (1 << (x))

/* An end is counted: an event, if the batch is watched; the operation is alive. */
inline note(x) {
  if
  :: observed && watchedFrom != NONE && x >= watchedFrom ->
     assert(owners[x] > 0 && !((events >> x) & 1)); events = events | bit(x)
  :: else
  fi
}

/* Under the lock: Batch.nextFinished until there is none. What may have finished an instant ago is looked at. */
inline collect() {
  ends = false;
#ifndef FAULT_LATE_END
  d_step { if :: isActive && head >= size && presence == OUTSIDE -> presence = ENDED; ends = true :: else fi };
#endif
  if :: isActive -> collectedReadied = readied :: else fi;
#ifdef FAULT_LATE_END
  d_step { if :: isActive && head >= size && presence == OUTSIDE -> presence = ENDED; ends = true :: else fi };
#endif
  do
  :: d_step { seen = finished }
     if
     :: d_step { collected < seen ->
          assert(taken > 0); note(collected); collected++; taken-- }
     :: collected >= seen ->
#ifndef FAULT_LATE_PIN
        pinned = true;
#endif
        running = current;
        if
        :: finished != seen -> skip
        :: finished == seen ->
#ifdef FAULT_LATE_PIN
           pinned = true;
#endif
           if
           :: running != NONE && running == collected ->
              d_step { assert(owners[running] > 0); isOver = settled[running] }
              if
              :: isOver -> d_step { note(collected); collected++; taken--; isOver = false }
              :: else -> break
              fi
           :: else -> break
           fi
        fi
     fi
  od;
  running = NONE; seen = 0;
  if :: ends -> isActive = false :: else fi;
  pinned = observed
}

proctype Runner() {
  byte x, seen, running = NONE; bool isOver, ends, next;
  do
  :: x < N ->
     if
     :: x == 0 -> skip                  /* its own from the beginning */
     :: d_step { x != 0 && head < N -> assert(head == x); head++ }
     :: x != 0 && head >= N -> break
     fi;
     current = x;
     /* main; then the end, in one step */
     settled[x] = true;
#ifdef FAULT_LOOK_FIRST
     isOver = pinned;
     finished++;
#else
     finished++;
     isOver = pinned;
#endif
     if
     :: isOver ->
        isOver = false;
        lockQueue();
        collect();
        lock = false
     :: else
     fi;
     readied++;
#ifdef CONTINUES
     /* What became ready has begun, if there is nothing else to start. */
     if :: head >= size -> next = true :: next = false fi;
#endif
#ifdef LIMITER
#ifndef FAULT_CONTINUED
     if :: next -> goto released :: else fi;        /* its users' code runs after the next one */
#endif
     presence = OUTSIDE;
#ifdef FAULT_UNLOOKED
     if :: skip ->
#else
     if :: head < size ->
#endif
        assert(!limited || presence == ENDED);     /* users' code */
        assert(!limited || presence == ENDED)
     :: else
     fi;
     if :: d_step { presence == OUTSIDE -> presence = INSIDE } :: presence == ENDED fi;
#endif
released:
     assert(!next || isActive);             /* it is to be published here */
     d_step { assert(owners[x] > 0); owners[x]-- };
     x++
  :: x >= N -> break
  od;
  /* The visit closes the batch. */
  lockQueue();
  collect();
  isActive = false;
  assert(taken == 0 && collectedReadied == readied);
  lock = false
}

proctype Collector() {
  byte seen, running = NONE, x; bool isOver, ends;
  /* Has waited for one of them. */
  if :: settled[0] -> x = 0 :: settled[1] -> x = 1 fi;
  lockQueue();
  collect();
  assert(collected > x);
  lock = false
}

proctype Lister() {
  byte seen, running = NONE, x, listed; bool isOver, ends;
  lockQueue();
  collect();
#ifdef FAULT_UNPINNED
  x = collected;
#else
  pinned = true;
  x = (observed -> watchedFrom : finished);
  x = (x > collected -> x : collected);
#endif
  do
  :: d_step { x < size -> assert(owners[x] > 0); owners[x]++; listed = listed | bit(x); x++ }
  :: x >= size -> break
  od;
  pinned = observed;
  lock = false;
  d_step {
    x = 0;
    do
    :: x < N -> if :: listed & bit(x) -> owners[x]-- :: else fi; x++
    :: else -> break
    od }
}

proctype Watcher() {
  byte seen, running = NONE; bool isOver, ends;
  lockQueue();
  collect();
  observed = true;
  pinned = true;
  watchedFrom = (finished > collected -> finished : collected);
  lock = false
}

proctype Reclaimer() {
  byte first;
  lockQueue();
  d_step {                              /* the exchange of `head` */
    first = head; head = 7;
    do
    :: first < size -> size--; taken--; reclaimed = reclaimed | bit(size)
    :: else -> break
    od }
  lock = false
}

proctype Limiter() {
  byte first, seen, running = NONE; bool isOver, ends;
  lockQueue();
  d_step {
    first = head; head = 7;
    do
    :: first < size -> size--; taken--; reclaimed = reclaimed | bit(size)
    :: else -> break
    od }
  lock = false;
  lockQueue();
  collect();
  limited = true;
  lock = false
}

init {
  atomic {
    run Runner();
#ifdef COLLECTOR
    run Collector();
#endif
#ifdef LISTER
    run Lister();
#endif
#ifdef WATCHER
    run Watcher();
#endif
#ifdef RECLAIMER
    run Reclaimer();
#endif
#ifdef LIMITER
    run Limiter();
#endif
  }
  /* At rest: each was released by its thread or reclaimed, and those who watched have heard. */
  _nr_pr == 1;
  d_step {
    collected = 0;
    do
    :: collected < N ->
       assert(owners[collected] == ((reclaimed >> collected) & 1));
       assert(!(watchedFrom <= collected) || (reclaimed & bit(collected)) || (events & bit(collected)));
       collected++
    :: else -> break
    od }
}
