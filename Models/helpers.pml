/* Threads that are summoned to help with one piece of work, and the requests for them (section "Helpers" of
   README.md).

   part                stands for
   Caller              ConcurrentIterations.run(): concurrentPerform, and the blocks of one operation
   Helper              a worker that a pool sends: runOnWorker
   Raiser              a thread that raises the operation: ConcurrentIterations.raise(to:); GraphRun.raise(to:…) is alike
   requests, urgent    what the pools of the two classes have for this work: each step is one section under the lock of
                       that pool
   busy, requested     threads that take part, and those that were sent for: under the lock of the work
   begun               how many numbers were given out; each step is an atomic addition

   With WAITS, the calls wait until as many have begun as may be under way at once: so as many threads must come.
   Left out: other work of the pools, weak memory.

   Proved: each number is called with once; the caller returns after all calls; as many threads come as are useful; when
   the caller has returned, and nobody is inside any more, nothing of the work is left in the pools; after the work has
   been raised, nothing is left in the pool of the lower class. */

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

bool raised;            /* threads of the more urgent class are sent for */
byte asking;            /* threads that are asking a pool: what they have asked may be moved yet */
byte requests, urgent, busy = 1, requested, begun, calls[NUMBERS], unfinished = NUMBERS, inside = THREADS;
bool returned, raising;

#define LOCALS byte wanted, number, done; bool makesWay, isUrgent, asksUrgent

/* Twice as many as are busy, and no more than the numbers that are left after the thread has taken its own. */
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

/* Asks the pool of the class that the work is of, and then checks whether all numbers are given out, and whether the work
   has been raised meanwhile: then what that pool was asked for is moved. */
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
