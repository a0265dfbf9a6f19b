/*
 * Alarms of a clock: several threads set alarms, and one thread sleeps until the first of them.
 *
 *   set     PolicyClock.set(_:), wakeDriver()
 *   remove  PolicyClock.remove(_:)
 *   ring    PolicyClock.ring()
 *   driver  AlarmThread, SleepingTasks: one time, which the last call has set
 *
 * Steps under the lock of the clock are atomic. Setting the driver is a separate step, without the lock, so two threads
 * can set it in the wrong order. When the last alarm is removed (REMOVER), the driver sleeps on, without the lock, too.
 *
 * Proved: when no thread is about to do something, the driver sleeps until the first alarm. As a result, none rings
 * late.
 */

#define MAX 9
#define AWAKE 0

byte alarm[2] = MAX;   /* The times of the two alarms; MAX if not set. */
byte wake = MAX;       /* When the driver wakes according to the state, or AWAKE. */
byte driver = MAX;     /* When the driver really wakes. */
byte now = 1;
byte busy;             /* Threads that are in a function of the clock. */
byte rung[2];

#define first (alarm[0] < alarm[1] -> alarm[0] : alarm[1])

inline wakeDriver(time) {
  do
  :: atomic { time = (wake == AWAKE -> MAX : wake) };
    if
    :: time == MAX -> break
    :: else
    fi;
    driver = time;
#ifdef FAULT_NOT_CHECKED
    break
#else
    if
    :: atomic { wake == AWAKE || wake == time -> break }
    :: atomic { wake != AWAKE && wake != time }
    fi
#endif
  od
}

proctype setter(byte number; byte at) {
  byte time;
  bool isEarlier;
  atomic {
    busy++;
    alarm[number] = at;
    isEarlier = first < wake;
    if
    :: isEarlier -> wake = first
    :: else
    fi
  };
  if
  :: isEarlier -> wakeDriver(time)
  :: else
  fi;
  busy--
}

#ifdef REMOVER
/* Sets an alarm and removes it. */
proctype remover(byte number; byte at) {
  byte time;
  bool isEarlier, isEmpty;
  atomic {
    busy++;
    alarm[number] = at;
    isEarlier = first < wake;
    if
    :: isEarlier -> wake = first
    :: else
    fi
  };
  if
  :: isEarlier -> wakeDriver(time)
  :: else
  fi;
  atomic {
    alarm[number] = MAX;
    isEmpty = first == MAX && wake != AWAKE && wake < MAX;
    if
    :: isEmpty -> wake = MAX
    :: else
    fi
  };
  if
  :: isEmpty ->
    driver = MAX;
#ifndef FAULT_NOT_RECHECKED
    wakeDriver(time)
#endif
  :: else
  fi;
  busy--
}
#endif

active proctype thread() {
  byte time;
  bool isSet;
end_sleeping:
  do
  :: atomic { driver < MAX -> busy++; now = (driver > now -> driver : now); driver = MAX };
    atomic { wake = AWAKE };
    do
    :: atomic { alarm[0] <= now -> alarm[0] = MAX; rung[0]++ }
    :: atomic { alarm[1] <= now -> alarm[1] = MAX; rung[1]++ }
    :: atomic { alarm[0] > now && alarm[1] > now ->
#ifdef FAULT_NOT_NOTED
        wake = MAX; isSet = false;
#else
        wake = first; isSet = first < MAX;
#endif
        break }
    od;
    if
    :: isSet -> wakeDriver(time)
    :: else
    fi;
    busy--
  od
}

active proctype observer() {
end_nothing:
  atomic { busy == 0 && first < MAX -> assert(driver <= first) }
}

init {
#ifdef REMOVER
  atomic { run setter(0, 3); run remover(1, 2) };
  rung[0] == 1
#else
  atomic { run setter(0, 3); run setter(1, 2) };
  rung[0] + rung[1] == 2;
  /* One more, later than all: the driver sleeps. */
  atomic { run setter(0, 5) };
  rung[0] + rung[1] == 3
#endif
}
