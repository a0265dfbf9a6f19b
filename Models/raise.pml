/* The nice value of a worker of a low class, while its operations are raised (section "Raise" of README.md).

   part                represents
   Worker              switchOperation(to:in:), called before each operation and after the last
   Raiser              Operation.raise, and WorkerPool.raiseThreads: raiseThread(ifAt:to:), under the lock of the worker's
                       pool
   raised              the operations whose state words are marked as raised
   at, marked          `raisable`: one atomic
   nice                the nice value of the worker's thread: 0 for the value of a more urgent class, 1 for its own

   Left out: processes without the privilege, where `nice` stays 1; weak memory; the manager, which acquires the lock
   for the worker.

   Proved: an operation that is not raised begins with the worker's own nice value, and keeps it. An operation that is
   raised, before or after the worker has taken it, runs with the lower one. */

#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef RAISED
#define RAISED 3        /* the operations that are raised, each by two threads: a set without the last one */
#endif

#define has(set, x) (((set) >> (x)) & 1)

byte at, nice = 1, ended, raised;
byte looked;            /* the operation that the worker has reached, and has checked */
byte done;              /* the operations that a thread has raised completely */
bool marked, lock;

inline switchOperation(x) {
  d_step { found = marked; at = x; marked = false; looked = 0 }
  if
  :: found ->
#ifndef FAULT_UNLOCKED
     atomic { !lock -> lock = true }
     lock = false;
#endif
     nice = 1
  :: else
  fi;
#ifndef FAULT_NO_LOOK
  if
  :: x > 0 && has(raised, x - 1) ->
     atomic { !lock -> lock = true }
     marked = true;
     nice = 0;
     lock = false
  :: else
  fi;
#endif
  d_step { looked = x; assert(x == 0 || !has(done, x - 1) || nice == 0) }
}

active proctype Worker() {
  byte number; bool found;
  do
  :: number < OPERATIONS -> number++; switchOperation(number); assert(has(RAISED, number - 1) || nice == 1)
  :: else -> break
  od;
  ended++
}

proctype Raiser(byte x) {
  raised = raised | (1 << (x - 1));
  atomic { !lock -> lock = true }
  if
  :: d_step { at == x -> marked = true } nice = 0
  :: at != x
  fi;
  d_step {
    lock = false;
    done = done | (1 << (x - 1));
    assert(looked != x || nice == 0);
    ended++
  }
}

init {
  byte x, count = 1;
  atomic {
    do
    :: x < OPERATIONS -> if :: has(RAISED, x) -> run Raiser(x + 1); run Raiser(x + 1); count = count + 2 :: else fi; x++
    :: else -> x = 0; break
    od
  }
  /* The last operation is not raised, whatever the raisers have done in the meantime. */
  ended == count;
  assert(nice == 1)
}
