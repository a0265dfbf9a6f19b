/*
 * Durable jobs on PostgreSQL: transactions that end jobs, add dependents, and tick, in processes of a fleet. The
 * isolation level is READ COMMITTED: each statement sees what was committed before it, and a row that another
 * transaction has locked is read in its newest version, after that transaction has ended.
 *
 *   finisher  JobTransaction.succeed(_:), meet(_:)
 *   enqueuer  JobTransaction.addAll(_:), lockDependencies(of:), standing(of:)
 *   ticker    JobTransaction.advanceSchedules()
 *
 * Each statement is a step. The commit is also a step; it publishes the changes and releases the locks. Waiting for the
 * lock of a row is a step for each row. A transaction can be rolled back between two statements and is then repeated.
 * On SQLite a transaction is one step, so everything proved here also holds there.
 *
 * The model omits fences, which `jobs.pml` has, failures, which hold the lock of the store alone, and the contents of
 * rows.
 *
 * Proved: each dependent is released once, after its last dependency has ended (J61, J64). No two transactions wait for
 * each other (J68). Each tick adds one job (J71).
 */

#ifndef ROLLBACKS
#define ROLLBACKS 1
#endif
#define DEPENDENCIES 2
#define DEPENDENTS 2
#define FREE 0

mtype = { running, ended };         /* The state of a dependency. */
mtype = { absent, held, waiting };  /* The state of a dependent. */
mtype = { none, open, met };        /* An edge. */

/* The committed state. */
mtype dependency[DEPENDENCIES] = running;
bool hasDependents[DEPENDENCIES];
mtype dependent[DEPENDENTS] = absent;
byte unmet[DEPENDENTS];
mtype edge[DEPENDENCIES * DEPENDENTS] = none;
byte next = 1;                      /* The next tick of the schedule. */

/* The transactions that have locked the rows. */
byte dependencyLock[DEPENDENCIES];
byte dependentLock[DEPENDENTS];
byte scheduleLock;

/* Only for the properties, and the remaining rollbacks. */
byte releases[DEPENDENTS];
byte jobs[3];                       /* The number of jobs of each tick. */
byte rollbacks = ROLLBACKS;
byte left;

#define between(d, x) edge[(d) * DEPENDENTS + (x)]

/* The transaction ends: its locks are released. */
inline unlockAll() {
  i = 0;
  do
  :: i < DEPENDENCIES -> if :: dependencyLock[i] == _pid -> dependencyLock[i] = FREE :: else fi; i++
  :: i == DEPENDENCIES -> break
  od;
  i = 0;
  do
  :: i < DEPENDENTS -> if :: dependentLock[i] == _pid -> dependentLock[i] = FREE :: else fi; i++
  :: i == DEPENDENTS -> break
  od;
  i = 0
}

/* Ends the dependencies from first to last. */
proctype finisher(byte first, last) {
  byte i, d, x, count;
  bool flags[DEPENDENCIES], found[DEPENDENTS];
  byte before[DEPENDENTS];

begin:
  /* The job rows are locked in ID order, read, and deleted. */
  d = first;
  do
  :: atomic { d <= last && dependencyLock[d] == FREE ->
      dependencyLock[d] = _pid;
      flags[d] = hasDependents[d];
      d++
    }
  :: d > last -> break
  od;
  if
  :: atomic { rollbacks > 0 -> rollbacks--; unlockAll(); goto begin }
  :: true
  fi;
  /* The dependents are found in one snapshot. */
  atomic {
    x = 0;
    do
    :: x < DEPENDENTS ->
      found[x] = (first == 0 && flags[0] && between(0, x) == open) || (last == 1 && flags[1] && between(1, x) == open);
      before[x] = unmet[x];
      x++
    :: x == DEPENDENTS -> break
    od;
    x = 0
  };
  /* Then they are locked, in ID order. */
  do
#ifdef FAULT_ORDER
#define nth (first == 1 -> DEPENDENTS - 1 - x : x)
#else
#define nth x
#endif
  :: x < DEPENDENTS && !found[nth] -> x++
  :: atomic { x < DEPENDENTS && found[nth] && dependentLock[nth] == FREE -> dependentLock[nth] = _pid; x++ }
  :: x == DEPENDENTS -> break
  od;
  if
  :: atomic { rollbacks > 0 -> rollbacks--; unlockAll(); goto begin }
  :: true
  fi;
  /* A later statement counts the edges down, in the newest versions of the rows. The next step is the commit. */
  atomic {
    x = 0;
    do
    :: x < DEPENDENTS ->
      count = 0;
      d = first;
      do
      :: d <= last ->
        if
        :: flags[d] && between(d, x) == open -> between(d, x) = met; count++
        :: else
        fi;
        d++
      :: d > last -> break
      od;
      if
      :: count > 0 ->
        assert(dependentLock[x] == _pid && dependent[x] == held);
#ifndef FAULT_LOST_COUNT
        before[x] = unmet[x];
#endif
        unmet[x] = before[x] - count;
        if
        :: unmet[x] == 0 -> dependent[x] = waiting; releases[x]++
        :: else
        fi
      :: else
      fi;
      x++
    :: x == DEPENDENTS -> break
    od;
    d = first;
    do
    :: d <= last -> dependency[d] = ended; d++
    :: d > last -> break
    od;
    unlockAll();
    left++
  }
}

/* Adds a dependent that waits for the dependencies from first to the last one. */
proctype enqueuer(byte x, first) {
  byte i, d;
  bool isUnfinished[DEPENDENCIES];

begin:
  d = first;
  do
#ifdef FAULT_LOST_EDGE
  :: atomic { d < DEPENDENCIES -> isUnfinished[d] = dependency[d] == running; d++ }
#else
  :: atomic { d < DEPENDENCIES && dependencyLock[d] == FREE ->
      isUnfinished[d] = dependency[d] == running;
      if
      :: isUnfinished[d] -> dependencyLock[d] = _pid
      :: else
      fi;
      d++
    }
#endif
  :: d == DEPENDENCIES -> break
  od;
  if
  :: atomic { rollbacks > 0 -> rollbacks--; unlockAll(); goto begin }
  :: true
  fi;
  atomic {
    d = first;
    do
    :: d < DEPENDENCIES ->
      if
      :: isUnfinished[d] -> between(d, x) = open; hasDependents[d] = true; unmet[x]++
      :: else
      fi;
      d++
    :: d == DEPENDENCIES -> break
    od;
    if
    :: unmet[x] == 0 -> dependent[x] = waiting; releases[x]++
    :: else -> dependent[x] = held
    fi;
    unlockAll();
    left++
  }
}

/* Adds the job of the first tick, which is due. */
proctype ticker() {
  byte tick;
begin:
  if
  /* A snapshot. */
  :: next == 1 ->
    atomic { scheduleLock == FREE -> scheduleLock = _pid; tick = next };
    if
    :: atomic { rollbacks > 0 -> rollbacks--; scheduleLock = FREE; goto begin }
    :: true
    fi;
    atomic {
      if
#ifdef FAULT_DOUBLED_TICK
      :: true -> jobs[1]++; next = 2
#else
      :: tick == 1 -> jobs[1]++; next = 2
      :: else
#endif
      fi;
      scheduleLock = FREE
    }
  :: next > 1
  fi;
  left++
}

init {
  byte x;
  atomic {
#ifdef TICKS
    run ticker();
    run ticker();
    run ticker()
#else
#ifdef BATCH
    run finisher(0, 1);
#else
    run finisher(0, 0);
    run finisher(1, 1);
#endif
    run enqueuer(0, 0);
    run enqueuer(1, LATER)
#endif
  };
#ifdef TICKS
  left == 3;
  assert(jobs[1] == 1)
#else
#ifdef BATCH
  left == 3;
#else
  left == 4;
#endif
  do
  :: x < DEPENDENTS -> assert(dependent[x] == waiting && unmet[x] == 0 && releases[x] == 1); x++
  :: x == DEPENDENTS -> break
  od
#endif
}
