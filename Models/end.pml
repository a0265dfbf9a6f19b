/* The end of an operation A that B may depend on (section "End" of README.md).

   part                represents
   end                 Operation.conclude: finish, leave the queue, release dependents, settle and wake, notify the
                       dependents' queues; then Effects.perform: cancel the pendingCancel, notify, wake (without the
                       completion block, because nothing waits for it)
   Worker, WorkerB     a worker that starts A, or B, when its queue holds it and it may start
   Adder               addOperation(A): reserve, book; with INBOX reserve, enqueue, push
   takeIn              QueueState.takeIn: a thread that holds the queue's lock accepts the operations of the inbox
   Owner               releases the queue, which is then freed when it is empty (INBOX)
   Canceller           cancel() of a subclass that finishes itself: super.cancel(); finish() (repro `zombie`)
   Stopper             cancelAllOperations() that stops B, whose own cancel() does nothing
   Failer, Reader      recordError(_:), and a thread that reads the outcome twice (repro `failrace`)
   Waiter              waitUntilFinished(); waitInside: the same in user code that A's end runs (observers, HANDLER)
   QueueWaiter         waitUntilAllOperationsAreFinished()
   Linker              B.addDependency(A), with SUCCESS requiring A to succeed
   Looker              Operation.queue: a thread that searches for the queue through A
   Notifier            another thread that notifies A's observers when A ends, and then continues instead of its ender

   Each change of a state word is one step; a critical section has one step per access to a state word.
   Left out: weak memory; the queue, except whether it contains A (queue.pml); memory; other dependencies of B.

   Proved: each step of the end happens once, and in order. A waiter wakes once, and not before the step that it waits
   for; the same holds for waits for the queue. B does not start if it required success and A did not succeed. An
   outcome does not change. No finished operation stays in the queue. B is not ready while A is in the queue.
   Everything ends. README.md lists the numbers of states. */

#ifndef SUCCESS
#define SUCCESS false                   /* B requires A to succeed */
#endif
#ifndef INSIDE
#define INSIDE false                    /* the observer of A that another thread calls waits for A's end */
#endif
#define PENDING 0
#define EXECUTING 1
#define FINISHED 2

/* The state words of A and B. */
byte phase; bool cancelled, reserved, enqueued, failed, hasWaiters, settled, notified;
byte phaseB, countB; bool pendingCancel, cancelledB;
/* Under the lock of A's links. */
bool links, closed, dependent, error; byte waiting, waitingInside;
/* The queue's state, under its lock. B is in it from the start; `told`: it has been notified of B. */
bool lock, holdsA, told = true;
/* The same: A has left, and its dependents are not released. */
bool settling;
/* The inbox, whose operations are accepted under that lock; whether A ended before; and the references to the queue. */
bool inbox, endedOutside, working, added, freed; byte retains;
/* A's observers, under their lock. Each critical section is one step. */
#define CHANGE 1
#define END 2
#define GO_ON 3
chan items = [4] of { byte };
bool notifying;
/* Semaphores, and variables for the proof. */
byte signals, signalsInside;
byte settles, leaves, notifies, ends; bool success, required;

inline lockLinks() { atomic { !links -> links = true } }
inline lockQueue() { atomic { !lock -> assert(!freed); lock = true } }

inline takeIn() {
  if
  :: inbox ->
     inbox = false;
#ifdef FAULT_REFUSED
     holdsA = phase != FINISHED
#else
     /* The thread that ends it, or has ended it, removes it. */
     holdsA = !endedOutside
#endif
  :: else
  fi
}

inline append(i) { atomic { items ! i } }
#define isBad (failed || cancelled)
#ifdef FAULT_SHARED_MARK
#define SHARED pendingCancel
#else
#define SHARED false
#endif

/* waitUntilFinished() inside user code that A's end runs before `notified`. */
inline waitInside() {
  lockLinks(); hasWaiters = true;
  if
  :: settled -> links = false
  :: !settled -> waitingInside++; links = false; atomic { signalsInside > 0 -> signalsInside-- } assert(settled)
  fi
}

inline wake(list, to) {
  if
  :: had -> lockLinks(); n = list; list = 0; links = false; to = to + n; n = 0
  :: else
  fi
}

/* ObserverList.notify: this thread calls the observers, or a thread that is already calling them does. The last item of
   an end continues the end. */
inline notify() {
  do
  :: atomic { notifying && !mine -> break }
  :: atomic { (mine || !notifying) && nempty(items) -> items ? item; notifying = true; mine = true }
     if
     :: item == CHANGE -> if :: INSIDE -> waitInside() :: else fi
     :: item == END -> assert(settled && !notified)
     :: item == GO_ON ->
        atomic { assert(settled && settles == 1); had = hasWaiters; notified = true; notifies++ }
        wake(waiting, signals)
     fi
  :: atomic { (mine || !notifying) && empty(items) ->
       if :: mine -> notifying = false :: else fi; mine = false; break }
  od
}

inline cancelB() {                      /* user code may run here */
  atomic { if :: phaseB == PENDING -> cancelledB = true :: else fi }
#ifdef HANDLER
#ifdef FAULT_HANDLER
  lockLinks(); hasWaiters = true; assert(!notified); waiting++; links = false;
  atomic { signals > 0 -> signals-- }
#else
  waitInside();
#endif
#endif
  told = true
}

inline leaveQueue() {
  if
  :: before ->
     /* Until the lock of the links has been acquired below, because a thread might search for the queue under it. */
     atomic { assert(!freed); retains++ }
     lockQueue(); takeIn();
#ifndef FAULT_EARLY_EMPTY
     settling = true;
#endif
     if
     :: holdsA -> holdsA = false; leaves++
     :: else ->
#ifndef INBOX
        assert(false)
#endif
#ifndef FAULT_OUTSIDE
        endedOutside = true
#endif
        skip
     fi;
     lock = false;
#ifdef FAULT_LOOKED
     atomic { assert(!freed); settling = false; retains-- }
#endif
     skip
  :: else
  fi
}

inline releaseDependents() {
  lockLinks(); closed = true;
  if
  :: dependent ->
     /* A thread that finds B ready finds A neither in the queue nor unrecorded. */
     assert(!before || !holdsA && (!inbox || endedOutside));
     atomic { dependent = false; countB--;
       if :: SUCCESS && !success && phaseB == PENDING && !SHARED -> requiresSuccess = true :: else fi;
#ifndef FAULT_NO_PENDING_CANCEL
       pendingCancel = pendingCancel || requiresSuccess
#endif
     }
     links = false; tells = true
  :: else -> links = false
  fi
}

inline end() {
  /* finish */
  atomic { if :: phase != FINISHED -> phase = FINISHED; ends++; wins = true; before = enqueued;
    success = !isBad :: else fi }
  if
  :: wins ->
#ifdef FAULT_RELEASES_FIRST
     releaseDependents(); leaveQueue();
#else
     leaveQueue(); releaseDependents();
#endif
     /* settle */
     atomic { assert(settles == 0 && !notified); had = hasWaiters; settled = true; settles++ }
     wake(waitingInside, signalsInside);
     /* the dependents' queues are notified (handOn) */
     if :: tells -> told = true :: else fi;
#ifndef FAULT_LOOKED
     if
     :: before -> lockQueue(); settling = false; lock = false; atomic { assert(!freed); retains-- }
     :: else
     fi;
#endif
     /* cancel the pendingCancel */
     if :: requiresSuccess -> cancelB() :: else fi;
     /* notify */
     append(END); append(GO_ON); notify()
  :: else
  fi
}
#define LOCALS bool wins, before, requiresSuccess, tells, had, mine; byte n, item

proctype Worker() {                     /* starts the operations of the queue */
  LOCALS;
endIdle:
  if
  :: atomic { holdsA || inbox -> assert(!freed); working = true }    /* a ticket, with a reference to the queue */
     lockQueue(); takeIn();
     if
     :: holdsA ->
        atomic { if :: phase == PENDING -> phase = EXECUTING :: else fi }
        lock = false; end(); working = false
     :: !holdsA -> lock = false; working = false; goto endIdle
     fi
  :: atomic { ends > 0 && added && !holdsA && !inbox -> skip }
  fi
}

proctype WorkerB() {
  do
  :: atomic { told -> told = false }
     if
     :: atomic { phaseB == PENDING && (cancelledB || countB == 0 && !pendingCancel) ->
          phaseB = (cancelledB -> FINISHED : EXECUTING);
          assert(cancelledB || !(required && ends > 0 && !success)) }
        phaseB = FINISHED; break
     :: atomic { !(phaseB == PENDING && (cancelledB || countB == 0 && !pendingCancel)) -> skip }
     fi
  od
}

proctype Adder() {
  bool isOver;
  atomic { if :: phase == PENDING -> reserved = true :: else fi }
#ifdef INBOX
  if
  :: reserved ->
     atomic { isOver = phase == FINISHED; enqueued = true }         /* enqueue */
     if :: isOver :: else -> inbox = true fi                        /* push */
  :: else
  fi;
#else
  if
  :: reserved ->
     lockQueue(); holdsA = true;
     atomic { isOver = phase == FINISHED; enqueued = true }         /* book */
#ifndef FAULT_ZOMBIE
     if :: isOver -> holdsA = false :: else fi;
#endif
     lock = false
  :: else
  fi;
#endif
  added = true
}

proctype Stopper() {                    /* a call that cancels B, whose override ignores it */
  bool stopped;
  atomic {
    if
    :: phaseB == PENDING && !cancelledB && !SHARED ->
       stopped = true;
#ifdef FAULT_SHARED_MARK
       pendingCancel = true
#else
       countB++
#endif
    :: else
    fi }
  if
  :: stopped ->
#ifdef FAULT_SHARED_MARK
     atomic { if :: !cancelledB -> pendingCancel = false :: else fi }
#else
     countB--;
#endif
     told = true
  :: else
  fi
}

proctype Owner() {
  /* While an operation is in the inbox, a worker with a reference to the queue is on its way. */
  atomic { added && !holdsA && !inbox && !working && !lock && retains == 0 -> freed = true }
}

proctype Canceller() {                  /* cancel() { super.cancel(); finish() } */
  LOCALS;
  atomic { if :: phase != FINISHED -> cancelled = true :: else fi }
  end()
}

proctype Failer() {
#ifdef FAULT_FAIL_RACE
  if :: phase != FINISHED -> lockLinks(); error = true; links = false :: phase == FINISHED fi
#else
  lockLinks(); error = true;
  atomic { if :: phase != FINISHED -> failed = true :: else fi }
  if :: !failed -> error = false :: else fi;
  links = false
#endif
}

#ifdef FAULT_FAIL_RACE
#define outcome (error)
#else
#define outcome (failed)
#endif
proctype Reader() {                     /* reads the outcome twice */
  bool seen;
  phase == FINISHED;
  seen = outcome;
  assert(!failed || error);
  assert(seen == outcome)
}

proctype Waiter() {                     /* outside of observers */
  lockLinks(); hasWaiters = true;
  if
  :: notified -> links = false
#ifdef FAULT_WAITER
  :: !notified -> links = false; lockLinks(); waiting++; links = false;
#else
  :: !notified -> waiting++; links = false;
#endif
     atomic { signals > 0 -> signals-- } assert(notified)
  fi
}

proctype QueueWaiter() {
  atomic { if :: freed -> goto over :: else -> retains++ fi }
  lockQueue(); takeIn();
  if
  :: holdsA || settling -> lock = false; atomic { !lock && !holdsA && !inbox && !settling -> assert(leaves == 0 || closed) }
  :: else -> assert(leaves == 0 || closed); lock = false
  fi;
  atomic { assert(!freed); retains-- }
over:
  skip
}

proctype Linker() {                     /* B.addDependency(A) */
  bool hadFinished;
  lockLinks();
  hadFinished = (phase == FINISHED);
  if
  :: !hadFinished ->
     atomic { if :: phaseB == PENDING -> countB++; dependent = true; required = SUCCESS; assert(!closed) :: else fi }
     links = false
  :: else ->
     links = false;
     if
     :: SUCCESS && isBad -> atomic { if :: phaseB == PENDING -> cancelledB = true :: else fi } told = true
     :: else
     fi
  fi
}

proctype Looker() {
  bool isFound;
  if :: enqueued :: added && !enqueued -> goto over fi;
  lockLinks();
  isFound = phase != FINISHED;
  if :: isFound -> atomic { assert(!freed); retains++ } :: else fi;
  links = false;
  if :: isFound -> atomic { assert(!freed); retains-- } :: else fi;
over:
  skip
}

proctype Notifier() {                   /* notifies A's observers of something else */
  LOCALS;
  append(CHANGE); notify()
}

init {
  atomic {
    run Adder(); run Worker(); run WorkerB();
#ifdef STOPPER
    run Stopper();
#endif
#ifdef CANCELLER
    run Canceller();
#endif
#ifdef INBOX
    run Owner();
#endif
#ifdef FAILER
    run Failer(); run Reader();
#endif
#ifdef WAITER
    run Waiter(); run Waiter();
#endif
#ifdef QUEUE_WAITER
    run QueueWaiter();
#endif
#ifdef LINKER
    run Linker();
#endif
#ifdef LOOKER
    run Looker();
#endif
#ifdef NOTIFIER
    run Notifier();
#endif
  }
  /* At rest. */
  (notified && phaseB == FINISHED && _nr_pr == 1);
  assert(ends == 1 && settles == 1 && notifies == 1 && leaves <= 1 && !holdsA && !inbox && !dependent && waiting == 0 &&
    waitingInside == 0);
  assert(signals == 0 && signalsInside == 0)
}
