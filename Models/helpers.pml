/* Threads that are summoned to help with one piece of work, and the requests for them (section "Helpers" of
   README.md).

   part                stands for
   Caller              ConcurrentIterations.run(): concurrentPerform, and the blocks of one operation
   Helper              a worker that the pool sends: runOnWorker
   requests            what the pool has for this work: each step is one section under the pool's lock
   busy, requested     threads that take part, and those that were sent for: under the lock of the work
   begun               how many numbers were given out; each step is an atomic addition

   With WAITS, the calls wait until as many have begun as may be under way at once: so as many threads must come.
   Left out: the classes of workers, other work of the pool, weak memory.

   Proved: each number is called with once; the caller returns after all calls; as many threads come as are useful; when
   the caller has returned, and nobody is inside any more, nothing of the work is left in the pool. */

#ifndef NUMBERS
#define NUMBERS 3
#endif
#ifndef LIMIT
#define LIMIT 3
#endif
#ifndef HELPERS
#define HELPERS 2
#endif

byte requests, busy = 1, requested, begun, calls[NUMBERS], unfinished = NUMBERS, inside = 1;
bool returned;

#define LOCALS byte wanted, number, done; bool makesWay

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

/* Asks the pool, and then checks whether all numbers are given out. */
inline submit(count) {
  requests = requests + count;
#ifndef FAULT_NO_SECOND_LOOK
  if :: begun >= NUMBERS -> withdraw() :: else fi
#endif
}

inline withdraw() {
  d_step { wanted = requests; requests = 0 }
  d_step { requested = requested - wanted; wanted = 0 }
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
    assert(!returned || inside > 0 || requests == 0)
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
  :: d_step { requests > 0 -> requests--; inside++ }
     d_step { requested--; busy++ }
     if
     :: begun < NUMBERS -> summon(); takeNumbers(true)
     :: else
     fi;
     leave()
  od
}
