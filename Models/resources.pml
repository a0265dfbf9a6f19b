/*
 * Resources that operations use exclusively: which operation gets them, and which is notified.
 *
 * Each queue has a lock and a limit; the table of resources has a lock, which is taken under that of a queue. As a
 * result, a step of the table is atomic, and a critical section of a queue is not.
 *
 *   worker            Visit.choose, Admission.next(for:), nextGranted(for:)
 *   batch             Operation.beginWithResources(in:), releaseResources(in:leaving:), Admission.claimTaken(_:of:)
 *   acquireAlone      Resource.acquireAlone(), releaseAlone()
 *   acquire           ResourceTable.acquire(_:)
 *   release, withdraw ResourceTable.release(_:), withdraw(_:), grantable(after:)
 *   offer             Admission.offerResources(to:)
 *   leave             the end or the cancellation of an operation, OperationQueue.offerResources(to:)
 *
 * Operation 0 needs resources A and B, 1 needs A, and 2 needs B. Operation 3 needs none, and competes with 2 for the
 * only slot of its queue (BLOCKER: it blocks until 0 has ended, and 1 needs B). A worker starts an operation separately
 * or in a batch. Left out: shared use, priorities, classes, and the rest of a batch, which holds nothing.
 * ResourceTableTests compares the table with shared use with a list.
 *
 * Proved: no two operations have a resource at the same time; a request is not overtaken while it waits; each operation
 * ends, so none waits for a free resource (an invalid end state).
 */

#define N 4
#define A 1
#define B 2

mtype = { ready, taken, gated, granted, running, done };
mtype = { idle, waiting, offered, holding };

mtype place[N] = ready;
mtype request[N] = idle;
byte number[N];
byte lastNumber;
/* Resources in use, as the lock of the table protects them; those that were acquired without the lock; and those that
   are open: `held` shows whether they are in use. */
byte held;
byte alone;
byte opened;
byte need[N];
byte queueOf[N];
byte started[2];
byte limit[2];
bool suspended[2];
bool locked[2];

#define conflicts(x, y) ((need[x] & need[y]) != 0)
#define waits(x) (request[x] == waiting || request[x] == offered)
#ifdef FAULT_OVERTAKE
#define behind(x, y) false
#else
#define behind(x, y) isOvertaken(x, y)
#endif
#define isFree(x) ((held & need[x]) == 0 && !behind(x, 0) && !behind(x, 1) && !behind(x, 2))
/* A request that has no number yet comes after all waiting requests. */
#define isOvertaken(x, y) (x != y && waits(y) && conflicts(x, y) && (number[x] == 0 || number[y] < number[x]))
#define isShared(x, y) (x != y && request[y] == holding && conflicts(x, y))
#define isSingle(x) (need[x] == A || need[x] == B)
#define waitsFor(r) ((waits(0) && (need[0] & r)) || (waits(1) && (need[1] & r)) || (waits(2) && (need[2] & r)))
#define canStart(q) (!suspended[q] && started[q] < limit[q])

inline lock(q) { atomic { !locked[q] -> locked[q] = true } }
inline unlock(q) { locked[q] = false }

/* In a step of the table: from here on, `held` shows which of the resources of x are in use. */
inline open(x) {
#ifndef FAULT_OPEN
  held = held | (alone & need[x]);
#endif
  alone = alone & ~need[x];
  opened = opened | need[x]
}

inline closeIfUnused(x, r) {
  if
#ifdef FAULT_CLOSE
  :: (need[x] & r) && !(held & r) -> opened = opened & ~r
#else
  :: (need[x] & r) && !(held & r) && !waitsFor(r) -> opened = opened & ~r
#endif
  :: else
  fi
}

inline hold(x) {
  assert(!isShared(x, 0) && !isShared(x, 1) && !isShared(x, 2));
  assert(!isOvertaken(x, 0) && !isOvertaken(x, 1) && !isOvertaken(x, 2));
  request[x] = holding
}

/* Gives a request its resources without the lock of a queue; does nothing if they are not available. */
inline acquireAlone(x, isGranted) {
  atomic {
    isGranted = isSingle(x) && ((alone | opened) & need[x]) == 0;
    if
    :: isGranted -> hold(x); alone = alone | need[x]
    :: else
    fi
  };
  if
  :: isGranted
  :: else ->
    d_step {
      open(x);
      isGranted = isFree(x);
      if
      :: isGranted -> hold(x); held = held | need[x]
      :: else -> closeIfUnused(x, A); closeIfUnused(x, B)
      fi
    }
  fi
}

/* Ends the use of the resources of x without the lock of a queue. */
inline releaseAlone(x, offers) {
  atomic {
    if
#ifdef FAULT_RELEASE
    :: isSingle(x) ->
#else
    :: isSingle(x) && (alone & need[x]) ->
#endif
      alone = alone & ~need[x]; opened = opened & ~need[x]; request[x] = idle; number[x] = 0
    :: else
    fi
  };
  if
  :: request[x] == holding -> end(x, offers)
  :: else
  fi
}

/* Gives a request its resources, or makes it wait. */
inline acquire(x, isGranted) {
  d_step {
    open(x);
    if
    :: number[x] == 0 -> lastNumber++; number[x] = lastNumber
    :: else
    fi;
    isGranted = isFree(x);
    if
    :: isGranted ->
      hold(x);
      held = held | need[x]
    :: else -> request[x] = waiting
    fi
  }
}

inline offerIf(x, freed, offers) {
  if
  :: request[x] == waiting && (need[x] & freed) != 0 && isFree(x) -> request[x] = offered; offers = offers | (1 << x)
  :: else
  fi
}

/* Ends a request, whether it holds or waits; adds those that can be granted to `offers`. */
inline end(x, offers) {
  d_step {
    open(x);
    if
    :: request[x] == holding -> held = held & ~need[x]; number[x] = 0
    :: else
    fi;
    request[x] = idle;
    offerIf(0, need[x], offers);
    offerIf(1, need[x], offers);
    offerIf(2, need[x], offers);
    closeIfUnused(x, A);
    closeIfUnused(x, B)
  }
}

/* Under the lock of the queue of x. */
inline offer(x, offers, isGranted) {
  if
  :: place[x] == gated && canStart(queueOf[x]) ->
    acquire(x, isGranted);
    if
    :: isGranted -> place[x] = granted; started[queueOf[x]]++
    :: else
    fi
  :: place[x] == gated && !canStart(queueOf[x]) ->
#ifdef FAULT_KEEP_TURN
    request[x] = waiting;
#else
    end(x, offers);
#endif
#ifndef FAULT_STAYS_GATED
    place[x] = ready
#endif
  :: place[x] != gated
  fi
}

inline take(offers, x) {
  if
  :: offers & 1 -> x = 0
  :: (offers & 2) && !(offers & 1) -> x = 1
  :: (offers & 4) && !(offers & 3) -> x = 2
  fi;
  offers = offers & ~(1 << x)
}

/* Offers resources to operations, each under the lock of its queue. */
inline offerAll(offers, x, isGranted) {
  do
  :: offers == 0 -> break
  :: offers != 0 ->
    take(offers, x);
    lock(queueOf[x]);
    offer(x, offers, isGranted);
    unlock(queueOf[x])
  od
}

/* The end of an operation that runs, or the cancellation of one that waits. Under the lock, those of the same queue come
   first; the others follow after it. */
inline leave(x, offers, others, y, isGranted) {
  place[x] = done;
#ifdef FAULT_CANCELLED_KEEPS
  if
  :: request[x] == holding -> end(x, offers)
  :: else -> request[x] = idle
  fi;
#else
  end(x, offers);
#endif
  do
  :: offers == 0 -> break
  :: offers != 0 ->
    take(offers, y);
    if
    :: queueOf[y] == queueOf[x] -> offer(y, offers, isGranted)
    :: else -> others = others | (1 << y)
    fi
  od;
  unlock(queueOf[x]);
  offerAll(others, y, isGranted)
}

#define isGrantedIn(x, q) (place[x] == granted && queueOf[x] == q)
#define isReadyIn(x, q) (place[x] == ready && queueOf[x] == q)
#define hasGranted(q) (isGrantedIn(0, q) || isGrantedIn(1, q) || isGrantedIn(2, q))
#define hasReady(q) (isReadyIn(0, q) || isReadyIn(1, q) || isReadyIn(2, q) || isReadyIn(3, q))

/* Runs an operation that was taken, in a batch, without the lock of the queue. */
inline batch(x, q, offers, y, isGranted) {
  acquireAlone(x, isGranted);
  if
  :: isGranted ->
    place[x] = running;
    releaseAlone(x, offers);
#ifdef FAULT_OFFERS
    offers = 0;
#endif
    offerAll(offers, y, isGranted);
    lock(q);
    place[x] = done;
    started[q]--;
    unlock(q)
  :: else ->
    lock(q);
    acquire(x, isGranted);
    if
    :: isGranted -> place[x] = granted
    :: else -> place[x] = gated; started[q]--
    fi;
    unlock(q)
  fi
}

proctype worker(byte q) {
  byte x, y, offers, others;
  bool isGranted;
end_idle:
  do
  :: atomic { !locked[q] && (hasGranted(q) || (canStart(q) && hasReady(q))) -> locked[q] = true };
    isGranted = false;
    if
    :: hasGranted(q) ->
      if
      :: isGrantedIn(0, q) -> x = 0
      :: isGrantedIn(1, q) -> x = 1
      :: isGrantedIn(2, q) -> x = 2
      fi;
      isGranted = true
    :: !hasGranted(q) ->
      if
      :: isReadyIn(0, q) -> x = 0
      :: isReadyIn(1, q) -> x = 1
      :: isReadyIn(2, q) -> x = 2
      :: isReadyIn(3, q) -> x = 3
      fi;
      if
      :: need[x] == 0 -> isGranted = true
      :: need[x] != 0 -> acquire(x, isGranted)
      :: need[x] != 0 -> place[x] = taken
      fi;
      if
      :: isGranted || place[x] == taken -> started[q]++
      :: else -> place[x] = gated
      fi
    fi;
    if
    :: place[x] == taken ->
      unlock(q);
      batch(x, q, offers, y, isGranted)
    :: isGranted && place[x] != taken ->
      place[x] = running;
      unlock(q);
      /* The operation runs here. */
#ifdef BLOCKER
      if
      :: x == 3 -> place[0] == done
      :: else
      fi;
#endif
      lock(q);
      started[q]--;
      leave(x, offers, others, y, isGranted)
    :: else -> unlock(q)
    fi
  od
}

#ifdef SUSPENDER
active proctype suspender() {
  lock(1); suspended[1] = true; unlock(1);
  lock(1); suspended[1] = false; unlock(1)
}
#endif

#ifdef CANCELLER
active proctype canceller() {
  byte y, offers, others;
  bool isGranted;
  lock(0);
  if
  :: place[0] == ready || place[0] == gated -> leave(0, offers, others, y, isGranted)
  :: place[0] == granted -> started[0]--; leave(0, offers, others, y, isGranted)
  :: else -> unlock(0)
  fi
}
#endif

init {
  atomic {
    need[0] = A | B; need[2] = B;
#ifdef BLOCKER
    need[1] = B;
#else
    need[1] = A;
#endif
    queueOf[2] = 1; queueOf[3] = 1;
    limit[0] = 2; limit[1] = 1;
    run worker(0);
    run worker(0);
    run worker(1)
  };
  /* Blocks forever, at an invalid end, if an operation does not end. */
  place[0] == done && place[1] == done && place[2] == done && place[3] == done && !locked[0] && !locked[1];
  assert(held == 0 && alone == 0 && opened == 0 && started[0] == 0 && started[1] == 0)
}
