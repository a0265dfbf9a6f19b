/* Who releases what a batch has run (section "Release" of README.md).

   part            stands for
   Runner          the batch's thread: runAll, Operation.end(in:), Batch.publish, and the release of what it owns
   Collector       an update that collects the results of batches, after another thread has waited for an operation
   Lister          OperationQueue.operations
   Watcher         the first observer of the queue
   Reclaimer       a thread that reclaims what the batch has not started, and so takes over the ownership

   The thread owns what it has taken, and releases it when it has published that it has finished; the queue's lock
   protects the others from each other, and not from that. Each access to what is used without the lock is a step.

   Left out: weak memory (all four orders in question are sequentially consistent); what the batch continues with, which
   the queue owns until it has been collected.

   Proved: nothing is looked at or retained that has been released; each is collected once; who has seen that an
   operation has finished finds it collected by the update that follows; who watches hears of each end from then on. */

#ifndef N
#define N 3             /* operations of the batch */
#endif

#define lockQueue() atomic { !lock -> lock = true }
#define NONE 15

bool lock;
/* Under the lock. */
byte size = N, collected, taken = N;
bool observed;
/* Used without the lock. */
byte current = NONE, finished, head = 1;
bool settled[N], pinned;
/* What the proof needs. */
byte owners[N] = 1, events, reclaimed, watchedFrom = NONE;

#define bit(x) (1 << (x))

/* Under the lock: Batch.nextFinished until there is none. What may have finished an instant ago is looked at. */
inline collect() {
  do
  :: d_step { seen = finished }
     if
     :: d_step { collected < seen -> assert(taken > 0); collected++; taken-- }
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
              :: isOver -> d_step { collected++; taken--; isOver = false }
              :: else -> break
              fi
           :: else -> break
           fi
        fi
     fi
  od;
  running = NONE; seen = 0;
  pinned = observed
}

proctype Runner() {
  byte x, seen, running = NONE; bool isOver;
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
        d_step { if :: observed -> events = events | bit(x) :: else fi }
        lock = false
     :: else
     fi;
     d_step { assert(owners[x] > 0); owners[x]-- };
     x++
  :: x >= N -> break
  od;
  /* The visit closes the batch. */
  lockQueue();
  collect();
  assert(taken == 0);
  lock = false
}

proctype Collector() {
  byte seen, running = NONE, x; bool isOver;
  /* Has waited for one of them. */
  if :: settled[0] -> x = 0 :: settled[1] -> x = 1 fi;
  lockQueue();
  collect();
  assert(collected > x);
  lock = false
}

proctype Lister() {
  byte seen, running = NONE, x, listed; bool isOver;
  lockQueue();
  collect();
#ifdef FAULT_UNPINNED
  x = collected;
#else
  pinned = true;
  x = (finished > collected -> finished : collected);
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
  byte seen, running = NONE; bool isOver;
  lockQueue();
  collect();
  observed = true;
  pinned = true;
  watchedFrom = finished;
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
