/* Which thread releases the operations that a batch has run (section "Release" of README.md).

   part            represents
   Runner          the batch's thread: runAll, Operation.end(in:), Batch.publish, and the release of its operations
   Collector       an update that collects the results of batches, after another thread has waited for an operation
   Lister          OperationQueue.operations
   Watcher         the first observer of the queue
   Reclaimer       a thread that reclaims operations that the batch has not started, and so takes over their ownership
   Limiter         the same, which sets a limit: a thread that runs user code in between must hold no slot of it
   Ender           a thread other than the batch's that ends the operation LATER: before the batch's thread begins it,
                   while `main` runs there, or after that

   The thread owns the operations that it has taken, and releases each when it has published its end. The queue's lock
   protects the other threads from each other, but not from that. Each access without the lock is one step.

   The thread publishes with a plain store, which other threads can see later (StoreBuffer). Its stores become visible
   in order, and before its next locked instruction: the one that settles an operation, moves `head`, announces that it
   is outside, or acquires the lock. It keeps the operations in the set KEEPS until it has acquired the lock, and may
   release the others before, after it has announced that it is outside. The end of LATER is published with a locked
   instruction.

   Left out: other weak memory; the ownership of operations that the batch continues with, which belong to the queue
   until they are collected. With CONTINUES, the thread may have
   begun such an operation when it releases the previous one. LATER is an operation that may end after its `main`: its
   thread may end it in `main` (the compare-and-exchange of `finish`), or return from there with the operation
   unfinished. Then it leaves the batch. The thread that acquires the lock first after that, the Ender or the thread
   that closes its batch, detaches the operation: it then runs separately, and belongs to the queue. With WAITS, the
   thread releases the work of the operation before it begins another, and that release may wait:
   OperationQueue.threadBlocks(in:).

   Proved: no released operation is read or retained. Each operation is collected once. A thread that has read that an
   operation has finished finds it collected by the next update. An observer is notified of each end from then on. An
   operation that ends later leaves once, as one that runs separately, and its batch's thread runs no other in the
   meantime. */

#ifndef N
#define N 3             /* operations of the batch */
#endif

#ifndef KEEPS
#define KEEPS 0
#endif

#define lockQueue() atomic { !lock -> lock = true }
/* The same for the Runner, whose stores other threads have seen by then. */
#define lockQueueSeen() atomic { !lock && isSeen -> lock = true }
#define NONE 15
#define INSIDE 0
#define OUTSIDE 1
#define ENDED 2
#define TAKEN 0
#define RUNNING 1
#define GONE 2
#define PENDING 0
#define EXECUTING 1
#define FINISHED 2

bool lock;
/* Under the lock. */
byte size = N, collected, taken = N, collectedNewlyReady;
bool observed, isActive = true;
/* Used without the lock. */
byte current = NONE, finished, head = 1, newlyReady, presence = INSIDE;
bool settled[N], pinned;
/* The Runner's stores to `finished` and `newlyReady` that other threads do not see yet. */
bool isLate;
byte lateReady;
#define isSeen (!isLate && lateReady == 0)
/* For the proof. */
byte owners[N] = 1, events, reclaimed, watchedFrom = NONE;
bool limited, isDone;
#ifdef LATER
/* The state word of the operation that may end later. */
byte phase = PENDING;
/* Under the lock. A thread that has reclaimed the operation does not change it. */
byte place = TAKEN;
#define isGone(x) (x == LATER && place == GONE)
#define isLater(x) (x == LATER)
#else
#define isGone(x) false
#define isLater(x) false
#endif

#define bit(x) (1 << (x))

/* An end is counted: an event, if the batch is watched; the operation is alive. */
inline note(x) {
  if
  :: observed && watchedFrom != NONE && x >= watchedFrom ->
     assert(owners[x] > 0 && !((events >> x) & 1)); events = events | bit(x)
  :: else
  fi
}

/* Under the lock: Batch.nextFinished until there is none. An operation that may have just finished is checked. */
inline collect() {
  ends = false;
#ifndef FAULT_LATE_END
  d_step { if :: isActive && head >= size && presence == OUTSIDE -> presence = ENDED; ends = true :: else fi };
#endif
  if :: isActive -> collectedNewlyReady = newlyReady :: else fi;
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
        running = (isActive -> current : NONE);       /* a closed batch is not checked */
        if
        :: finished != seen -> skip
        :: finished == seen ->
#ifdef FAULT_LATE_PIN
           pinned = true;
#endif
           if
           :: running != NONE && running == collected ->
#ifdef FAULT_COUNTS_TWICE
              d_step { assert(owners[running] > 0); isOver = settled[running] }
#else
              d_step { assert(owners[running] > 0); isOver = settled[running] && !isGone(running) }
#endif
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

/* Under the lock: Batch.reclaim, the exchange of `head`. */
inline reclaim() {
  d_step {
    first = head; head = 7;
    do
    :: first < size -> size--; taken--; reclaimed = reclaimed | bit(size)
    :: else -> break
    od }
}

/* Under the lock: the current operation, which has not ended there, runs separately; the batch is closed. */
inline detach() {
  reclaim();
  assert(isActive && running == NONE && current == LATER);
#ifndef FAULT_UNBEGUN
  assert(collected == LATER);
#endif
  taken--;
  place = RUNNING;
  current = NONE;
  isActive = false
}

proctype Runner() {
  byte x, first, seen, running = NONE, kept; bool isOver, ends, next, isUnfinished;
  do
  :: x < N ->
     if
     :: x == 0 -> skip                  /* its own from the beginning */
     :: d_step { x != 0 && isSeen && head < N -> assert(head == x); head++ }
     :: x != 0 && isSeen && head >= N -> break
     fi;
     current = x;
#ifdef LATER
     if
     :: x == LATER ->
        if
        :: d_step { phase == PENDING -> phase = EXECUTING }
        :: phase == FINISHED -> isUnfinished = true; break          /* it can't begin: `claimTaken` */
        fi;
#ifdef FAULT_PUBLISHES
        phase = FINISHED;
#else
        if
        :: d_step { phase == EXECUTING -> phase = FINISHED }     /* `finish` in main */
        :: isUnfinished = true; break                               /* main has returned */
        fi
#endif
     :: x != LATER
     fi;
#endif
     /* main; then the end, in one step */
     d_step { isSeen -> settled[x] = true };
     isLate = true;                     /* finished++ */
     if :: isLater(x) -> isSeen :: !isLater(x) fi;
     isOver = pinned;
     if
     :: isOver ->
        isOver = false;
        lockQueueSeen();
        collect();
        lock = false
     :: else
     fi;
     lateReady++;                       /* newlyReady++ */
#ifdef CONTINUES
     /* What became ready has begun, if there is nothing else to start. */
     if :: head >= size -> next = true :: next = false fi;
#endif
#ifdef LIMITER
#ifndef FAULT_CONTINUED
     if :: next -> goto released :: else fi;        /* its user code runs after the next one */
#endif
     d_step { isSeen -> presence = OUTSIDE };
#ifdef FAULT_UNLOOKED
     if :: skip ->
#else
     if :: head < size ->
#endif
        assert(!limited || presence == ENDED);     /* user code */
        assert(!limited || presence == ENDED)
     :: else
     fi;
     if :: d_step { presence == OUTSIDE -> presence = INSIDE } :: presence == ENDED fi;
#endif
#ifdef WAITS
     if
     :: skip                                /* the work is released, without waiting */
     :: skip ->
#ifndef FAULT_KEEPS_PLACE
        lockQueueSeen();
        reclaim();
        collect();
        isActive = false;
        next = false;                       /* the queue is notified of the operation to continue with */
        lock = false;
#endif
        assert(collected > x && !isActive && !next); /* it waits for later operations */
        d_step { assert(owners[x] > 0); owners[x]-- };
        break
     fi;
#endif
released:
     assert(!next || isActive);             /* it must be published here */
     if
     :: next || ((KEEPS >> x) & 1) -> kept = kept | bit(x)
     :: else ->
        if
        :: isLater(x)                       /* it has looked after it had published */
        :: !isLater(x) ->
#ifdef FAULT_LOOK_FIRST
           isOver = pinned;
           isSeen;
#else
           isSeen;                          /* it has announced that it is outside */
           isOver = pinned;
#endif
           if
           :: isOver ->
              isOver = false;
              lockQueueSeen();
              collect();
              lock = false
           :: else
           fi
        fi;
        d_step { assert(owners[x] > 0); owners[x]-- }
     fi;
     x++
  :: x >= N -> break
  od;
  /* The visit closes the batch. */
  lockQueueSeen();
  collect();
#ifdef LATER
  if
  :: isUnfinished && place == TAKEN -> detach(); isUnfinished = false  /* the queue takes over the ownership */
  :: else
  fi;
#endif
  isActive = false;
  assert(taken == 0 && collectedNewlyReady == newlyReady);
  lock = false;
  first = 0;
  do
  :: first < N ->
     d_step {
       if :: (kept >> first) & 1 -> assert(owners[first] > 0); owners[first]-- :: else fi;
       first++ }
  :: first >= N -> break
  od;
  isDone = true;
#ifdef LATER
#ifdef FAULT_TAKES_OVER
  isUnfinished = false;
#endif
  if
  :: d_step { isUnfinished -> assert(owners[x] > 0); owners[x]-- }  /* the Ender was first */
  :: !isUnfinished
  fi
#endif
}

proctype StoreBuffer() {
  do
  :: d_step { isLate -> finished++; isLate = false }
  :: d_step { !isLate && lateReady > 0 -> newlyReady++; lateReady-- }
  :: isDone -> break
  od
}

proctype Collector() {
  byte seen, running = NONE, x; bool isOver, ends;
  /* Has waited for an operation. */
  if :: settled[0] -> x = 0 :: settled[1] -> x = 1 fi;
  lockQueue();
  collect();
  assert(collected > x || isGone(x));
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
  if :: isActive :: !isActive -> x = size fi;
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
#ifdef LATER
  if :: place == GONE -> events = events | bit(LATER) :: else fi;    /* before that, there was no observer */
#endif
  lock = false
}

proctype Reclaimer() {
  byte first;
  lockQueue();
  reclaim();
  lock = false
}

proctype Limiter() {
  byte first, seen, running = NONE; bool isOver, ends;
  lockQueue();
  reclaim();
  lock = false;
  lockQueue();
  collect();
  limited = true;
  lock = false
}

#ifdef LATER
proctype Ender() {
  byte first, seen, running = NONE, x; bool isOver, ends, hasBegun;
  if
  :: d_step { phase != FINISHED -> hasBegun = (phase == EXECUTING); phase = FINISHED }
  :: phase == FINISHED -> goto released
  fi;
  lockQueue();
  collect();
#ifdef FAULT_UNBEGUN
  if :: !hasBegun && place == TAKEN && isActive && current == LATER && finished == LATER -> hasBegun = true :: else fi;
#endif
  if
  :: place == TAKEN && (reclaimed & bit(LATER)) -> reclaimed = reclaimed & ~bit(LATER)
  :: place == TAKEN && !(reclaimed & bit(LATER)) && hasBegun ->
     detach();
     owners[LATER]++                        /* the queue's, until it is gone */
  :: place == TAKEN && !(reclaimed & bit(LATER)) && !hasBegun ->
     reclaim();
     if
     :: reclaimed & bit(LATER) -> reclaimed = reclaimed & ~bit(LATER)
     :: else -> taken--; owners[LATER]++    /* its thread has taken it, and will see */
     fi
  :: place == RUNNING
  fi;
  d_step {
    assert(owners[LATER] > 0);
    place = GONE;
    if :: observed -> assert(!(events & bit(LATER))); events = events | bit(LATER) :: else fi }
  lock = false;
  owners[LATER]--;
  settled[LATER] = true;
released:
  assert(owners[LATER] > 0);
  owners[LATER]--
}
#endif

init {
  atomic {
    run Runner();
    run StoreBuffer();
#ifdef LATER
    owners[LATER]++;                    /* the user's */
    run Ender();
#endif
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
  /* At rest, each was released by its thread or reclaimed, and observers have been notified. */
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
