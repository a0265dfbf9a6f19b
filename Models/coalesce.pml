/*
 * Coalescing by key: several callers share operations that have the same key, and can cancel their shares.
 *
 *   caller    CoalescingRequest.join(), prepare(_:_:), add(_:_:); CoalescedTask.value
 *   canceller CoalescedTask.cancel()
 *   worker    a worker of the queue, TimedGate.noteFirstStart(), TimedGate.end(in:)
 *
 * Steps under the lock of the keys are atomic (CoalescingTable). A caller that joins nothing creates an operation
 * without the lock. When it registers the operation, it checks again whether there is one to join. The last caller to
 * cancel its share cancels the operation after it has released the lock. If caller N registers an operation, that is
 * operation N. There is one key, and the limit allows all operations to run at the same time. The model omits the
 * queue, and the cases that replace operations, which take the same steps.
 *
 * Proved: a caller that does not cancel its share gets a value. Each caller has one outcome, which does not change. The
 * table contains each operation that a caller wants. At most one of these operations is waiting. With `joinWaiting`, a
 * function begins after all calls that have joined its operation. With `joinUnfinished` (UNFINISHED), only one function
 * runs at a time.
 */

#ifndef CALLERS
#define CALLERS 3
#endif
#ifndef CANCELS
#define CANCELS 3      /* The callers that cancel their shares, as bits. */
#endif
#define NONE 9

mtype = { waiting, running, ended, value, cancelled };

/* Protected by the lock of the keys. */
mtype phase[CALLERS];
byte callers[CALLERS];      /* The callers of an operation that have not cancelled their shares. */
byte table;                 /* The operations in the table, as bits. */
bool left[CALLERS];

bool isAdded[CALLERS];
bool isCancelled[CALLERS];  /* The flag in the state word. */
byte after[CALLERS];        /* The operations that must end before it starts, as bits. */
bool hasBegun[CALLERS];     /* The function has begun. */
byte functions;             /* The functions that are running. */
byte cancellers;            /* The cancellers that have not returned. */

byte share[CALLERS] = NONE; /* The operation of a caller. */
mtype outcome[CALLERS];

#define contains(op) ((table >> op) & 1)
#ifdef FAULT_UNWANTED
#define isWanted(op) (!isCancelled[op])
#else
#define isWanted(op) (callers[op] > 0 && !isCancelled[op])
#endif
#ifdef UNFINISHED
#define canBeJoined(op) (contains(op) && isWanted(op))
#else
#define canBeJoined(op) (contains(op) && isWanted(op) && phase[op] == waiting)
#endif

inline join(number, op) {
  op = CALLERS;
  do
  :: op > 0 && canBeJoined(op - 1) ->
    op = op - 1;
    callers[op]++;
#ifndef UNFINISHED
    assert(!hasBegun[op]);
#endif
    share[number] = op;
    break
  :: op > 0 && !canBeJoined(op - 1) -> op = op - 1
  :: op == 0 -> op = NONE; break
  od
}

proctype caller(byte number) {
  byte op;
  d_step { join(number, op) };
  if
  :: op == NONE ->
    /* Creates the operation. */
    skip;
    d_step {
#ifndef FAULT_NO_SECOND_LOOK
      join(number, op);
#endif
      if
      :: op == NONE ->
        op = 0;
        do
        :: op < CALLERS -> assert(!(contains(op) && callers[op] > 0 && !isCancelled[op] && phase[op] == waiting)); op++
        :: else -> break
        od;
        phase[number] = waiting;
        callers[number] = 1;
#if defined(UNFINISHED) && !defined(FAULT_OVERTAKES)
        after[number] = table;
#endif
        table = table | (1 << number);
        share[number] = number;
        op = NONE
      :: else
      fi
    };
    if
    :: op == NONE -> isAdded[number] = true
    :: else
    fi
  :: else
  fi;
  op = share[number];
  /* The value: this resumes when the operation ends, or the caller cancels its share. */
  atomic { phase[op] == ended || left[number] ->
    outcome[number] = (left[number] || isCancelled[op] -> cancelled : value)
  };
  assert(left[number] || outcome[number] == value)
}

proctype canceller(byte number) {
  byte op;
  bool isLast;
  share[number] != NONE;
  op = share[number];
  d_step {
    if
#ifdef FAULT_CANCELS_LATE
    :: true ->
#else
    :: phase[op] != ended ->
#endif
      left[number] = true;
      callers[op]--;
      isLast = callers[op] == 0
    :: else
    fi
  };
  if
  :: isLast -> isCancelled[op] = true
  :: else
  fi;
  cancellers--
}

proctype worker(byte op) {
  byte other;
end_unused:
  isAdded[op];
  /* A cancelled operation waits for nothing. */
  (isCancelled[op] || !(after[op] & table));
  if
  :: isCancelled[op]
  :: !isCancelled[op] ->
#ifndef FAULT_BEGINS_LATE
    phase[op] = running;
#endif
    atomic {
      hasBegun[op] = true;
      functions++;
#ifdef UNFINISHED
      assert(functions == 1)
#endif
    };
#ifdef FAULT_BEGINS_LATE
    phase[op] = running;
#endif
    functions--
  fi;
  d_step {
    phase[op] = ended;
#ifdef FAULT_REMOVES_KEY
    table = 0;
#else
    table = table & ~(1 << op);
#endif
    other = 0;
    do
    :: other < CALLERS ->
      assert(callers[other] == 0 || phase[other] == ended || contains(other));
      other++
    :: else -> break
    od
  }
}

init {
  byte number;
  atomic {
    do
    :: number < CALLERS ->
      run caller(number);
      run worker(number);
      if
      :: (CANCELS >> number) & 1 -> cancellers++; run canceller(number)
      :: else
      fi;
      number++
    :: else -> break
    od
  };
  /* Waits until all callers and cancellers have returned. */
  number = 0;
  do
  :: number < CALLERS -> outcome[number] != 0; number++
  :: else -> break
  od;
  atomic { table == 0 && cancellers == 0 ->
    number = 0;
    do
    :: number < CALLERS -> assert(left[number] == (outcome[number] == cancelled)); number++
    :: else -> break
    od
  }
}
