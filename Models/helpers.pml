/* Threads that are requested to help with one piece of work, and the requests (section "Helpers" of README.md).

   part                represents
   Caller              ConcurrentIterations.run(): concurrentPerform, and the blocks of one operation
   Helper              a worker that a pool sends: runOnWorker
   Raiser              raises the operation: ConcurrentIterations.raise(to:); similar to GraphRun.raise(to:…)
   requests, urgent    the requests for this work in the pools of the two classes: each step is one critical section of
                       that pool
   busy, requested     threads that take part, and those that were requested: under the lock of the work
   begun               how many numbers have been taken; each step is an atomic addition

   With WAITS, the calls wait until as many have begun as can run at the same time, so that many threads must arrive.
   Left out: other work of the pools, weak memory.

   Proved: there is one call per number. The caller returns after all calls. As many threads arrive as are useful. When
   the caller has returned and all threads have left, the pools have no request for the work. After the work has been
   raised, the pool of the lower class has none. */

#ifndef NUMBERS
#define NUMBERS 3
#endif
#ifndef LIMIT
#define LIMIT 3
#endif
#ifndef HELPERS
#define HELPERS 2
#endif

#ifdef RAISER
#define THREADS 2       /* inside from the beginning: the caller and the raiser */
#else
#define THREADS 1
#endif

bool raised;            /* threads of the more urgent class are requested */
byte asking;            /* threads that are sending a request to a pool: it might still be moved */
byte requests, urgent, busy = 1, requested, begun, calls[NUMBERS], unfinished = NUMBERS, inside = THREADS;
bool returned, raising;

#define LOCALS byte wanted, number, done; bool makesWay, isUrgent, asksUrgent

/* Twice the number of busy threads, and at most the numbers that remain after the thread has taken its own. */
inline summon() {
  atomic {
    wanted = (LIMIT < 2 * busy -> LIMIT : 2 * busy);
    if :: begun >= NUMBERS -> wanted = 0
       :: else -> wanted = (wanted < busy + NUMBERS - begun - 1 -> wanted : busy + NUMBERS - begun - 1) fi;
    if :: wanted > busy + requested -> wanted = wanted - busy - requested :: else -> wanted = 0 fi;
    requested = requested + wanted
  }
  if
  :: wanted > 0 -> submit(wanted)
  :: else
  fi
}

/* Sends requests to the pool of the work's class and then checks whether all numbers have been taken, and whether the
   work has been raised in the meantime. If so, the requests are moved. */
inline submit(count) {
  d_step { asksUrgent = raised; asking++ }
  if :: asksUrgent -> urgent = urgent + count :: else -> requests = requests + count fi;
  if
#ifndef FAULT_NO_SECOND_LOOK
  :: begun >= NUMBERS -> withdraw()
#endif
#ifndef FAULT_UNMOVED
  :: begun < NUMBERS && !asksUrgent && raised ->
     d_step { wanted = requests; requests = 0 }
     urgent = urgent + wanted;
     wanted = 0;
     if :: begun >= NUMBERS -> withdraw() :: else fi
#endif
  :: else
  fi;
  d_step { asking--; assert(!raised || asking > 0 || requests == 0 || raising) }
}

inline withdraw() {
  d_step { wanted = requests; requests = 0 }
  d_step { requested = requested - wanted; wanted = 0 }
#ifdef RAISER
  d_step { wanted = urgent; urgent = 0 }
  d_step { requested = requested - wanted; wanted = 0 }
#endif
}

inline takeNumbers(mayMakeWay) {
  done = 0;
  do
  :: atomic { number = begun; if :: begun < NUMBERS -> begun++ :: else fi }
     if
     :: number >= NUMBERS -> break
     :: else ->
        d_step { calls[number]++; assert(calls[number] == 1 && !returned) }
#ifdef WAITS
        begun >= LIMIT;
#endif
        done++;
        if :: true :: mayMakeWay -> makesWay = true; break fi
     fi
  od;
  atomic {
    unfinished = unfinished - done;
    if :: makesWay -> busy--; requested++ :: else fi;
    done = 0; number = 0
  }
  if
  :: makesWay -> submit(1); makesWay = false
#ifndef FAULT_STAYS
  :: !makesWay && requested > 0 -> withdraw()
#endif
  :: else
  fi
}

inline leave() {
  d_step {
    inside--;
    assert(!returned || inside > 0 || requests + urgent == 0)
  }
}

active proctype Caller() {
  LOCALS;
  summon();
  takeNumbers(false);
  unfinished == 0;
  returned = true;
  leave();
  assert(begun == NUMBERS)
}

active [HELPERS] proctype Helper() {
  LOCALS;
end:
  do
  :: d_step { requests + urgent > 0 -> inside++; isUrgent = urgent > 0; if :: isUrgent -> urgent-- :: else -> requests-- fi }
     if
     :: raised && !isUrgent -> submit(1)
     :: atomic { !raised || isUrgent -> requested--; busy++ }
        if
        :: begun < NUMBERS -> summon(); takeNumbers(true)
        :: else
        fi
     fi;
     leave()
  od
}

#ifdef RAISER
active proctype Raiser() {
  byte wanted, back;
  if
  :: begun < NUMBERS ->
     atomic { raised = true; raising = true }
     d_step { back = requests; requests = 0 }
     atomic {
       requested = requested - back; back = 0;
       wanted = (begun < NUMBERS && busy + requested < LIMIT -> LIMIT - busy - requested : 0);
       wanted = (wanted < NUMBERS - begun -> wanted : NUMBERS - begun);
       requested = requested + wanted
     }
     if
     :: wanted > 0 ->
        urgent = urgent + wanted; wanted = 0;
#ifndef FAULT_RAISED_LATE
        if :: begun >= NUMBERS -> withdraw() :: else fi
#endif
     :: else
     fi;
     d_step { raising = false; assert(asking > 0 || requests == 0) }
  :: else
  fi;
  leave()
}
#endif
