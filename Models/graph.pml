/* A run of a graph by several threads (section "Graph" of README.md).

   part                represents
   Starter             GraphOperation.run(), of successive operations, with the same counters
   Helper              a worker that the pool sends: GraphRun.runOnWorker
   stay                GraphRun.participate: take, steal, execute, become idle, search, leave
   busy                threads that hold nodes or can take some; the thread that decreases it to 0 ends the operation
   participants        busy threads, searching threads, and those on their way: not more than LIMIT
   users               the same, and those that are about to leave; the one that decreases it to 0 stores the counters

   The graph: 0 before 1 and 2, both before 3; with SOURCES, 0 is not before any other. A stack is the set of its
   nodes. Each of its changes is one step, because its word has a tag. With STOPPER, the operation is cancelled at some
   time. With WAITS, the block of 1 waits until that of 2 has begun, so a node that could begin must not become
   unreachable for its thread. With MAKES_WAY, a helper can leave its nodes to others at any time, and return. `coming`
   is the number of requests that the pool has for the run. The thread that ends the run withdraws them. Left out: weak
   memory, the order of nodes, and the duration of a search (a thread can give up at any time).

   Proved: each node begins once per run, after its predecessors, and not after the end. The run ends once, after all
   nodes that began. The counters are stored once, with no thread inside. Everything ends. */

#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef RUNS
#define RUNS 2
#endif
#ifndef HELPERS
#define HELPERS 2
#endif
#ifndef SENT
#define SENT 0                          /* helpers on their way from the start, as after nodes shared before */
#endif
#define PLACES 3
#define NONE 9
#ifdef SOURCES
#define FIRST 7
#else
#define FIRST 1
#endif
#define ALL 15

byte stack[PLACES]; bool taken[PLACES];
byte left[4], busy, participants, users, coming, back, begun, done, ended, runs; bool stopped, spare = true;

#define bit(n) (1 << (n))
#define anything (stack[0] != 0 || stack[1] != 0 || stack[2] != 0)

#define LOCALS byte place, node = NONE, victim, hand, ready, seen; bool isLast, isOver, entered, wayMade

/* Takes the lowest of a set of nodes. */
inline takeLowest(set) {
  node = 0;
  do :: (set & bit(node)) == 0 -> node++ :: else -> break od;
  set = set & ~bit(node)
}

inline countDown(n) {
  d_step {
    left[n]--;
    if :: left[n] == 0 -> ready = ready | bit(n) :: else fi
  }
}

/* Requests another thread, unless the limit is reached, or enough are on their way. */
inline summon() {
  seen = participants;
  if
  :: seen < LIMIT && seen < 2 * busy ->
    atomic {
      if :: participants == seen -> participants++; users++; coming++ :: else fi
    }
  :: else
  fi
}

inline enter() {
  d_step {
    entered = busy > 0;
    if :: entered -> busy++ :: else fi
  }
}

/* The pool must keep nothing of the run. */
inline withdraw() {
  d_step { seen = coming; coming = 0 }
  d_step { participants = participants - seen; users = users - seen; seen = 0 }
}

/* A thread no longer uses the run. */
inline releaseUser() {
  atomic {
    users--;
    assert(ended < runs || users > coming || coming == 0);
    if
    :: users == 0 -> assert(ended == runs && busy == 0 && coming == 0 && back == 0 && participants == 0 && !spare); spare = true
    :: else
    fi
  }
}

/* A helper that made way might have left nodes, which the last thread finds. */
inline becomeIdle() {
  d_step { busy--; isLast = busy == 0 }
#ifndef FAULT_NO_LAST_LOOK
  if :: isLast && anything && !stopped -> busy = 1; isLast = false; entered = true :: else -> entered = false fi;
#else
  entered = false;
#endif
  if
  :: isLast ->
     atomic { ended++; assert((stopped || done == ALL) && begun == done && ended == runs) }
#ifndef FAULT_STAYS
     if :: participants > 1 -> withdraw() :: else fi
#endif
  :: else
  fi
}

/* The thread, which has shared all its nodes, leaves for other work, and requests a successor. Until it has checked
   whether the run is over, the memory of the run is not reused. */
inline makeWay() {
  users++;
  d_step {
    isOver = busy > 1;
    if :: isOver -> busy-- :: else fi
  }
  if
  :: isOver ->
    d_step { taken[place] = false; wayMade = true }
    coming++;
#ifndef FAULT_UNWITHDRAWN
    if :: busy == 0 -> withdraw() :: else fi;
#endif
    releaseUser()
  :: else -> users--
  fi
}

/* The node that the thread executes next, or none. */
inline take() {
  atomic {
    if :: stack[place] != 0 -> takeLowest(stack[place]) :: else fi
  }
  victim = 0;
  do
  :: node == NONE && victim < LIMIT ->
    /* All nodes of another thread's stack; some are put back. */
    d_step { hand = stack[victim]; stack[victim] = 0 }
    if
    :: hand != 0 ->
      atomic { takeLowest(hand) }
      if :: hand != 0 -> d_step { stack[victim] = stack[victim] | hand; hand = 0 } :: else fi;
      if :: anything -> summon() :: else fi
    :: else -> victim++
    fi
  :: else -> break
  od;
  victim = 0
}

inline execute() {
  atomic {
    assert(ended == runs - 1 && (begun & bit(node)) == 0);
    assert((node == 0 || FIRST != 1 || (done & 1) != 0) && (node != 3 || (done & 6) == 6));
    begun = begun | bit(node)
  }
#ifdef WAITS
  if :: node == 1 -> (begun & 4) != 0 || stopped :: else fi;
#endif
  d_step { done = done | bit(node) }
  if
  :: node == 0 && FIRST == 1 -> countDown(1); countDown(2)
  :: node == 1 || node == 2 -> countDown(3)
  :: else
  fi;
  atomic {
    node = NONE;
    if :: ready != 0 -> takeLowest(ready) :: else fi
  }
  if
  :: ready != 0 ->
    d_step { stack[place] = stack[place] | ready; ready = 0 }
    summon()
  :: else
  fi
}

inline detach() {
  d_step { taken[place] = false; participants--; entered = false; isOver = true }
#ifndef FAULT_NO_SECOND_LOOK
  /* Another thread may have shared nodes in the meantime, and relied on this one, which returns. */
  if
  :: busy > 0 && anything && !stopped ->
    d_step {
      if :: participants < LIMIT -> participants++; back++; isOver = false :: else fi
    }
  :: else
  fi;
#endif
  if
  :: isOver ->
    releaseUser()
  :: else
  fi
}

/* The thread counts as busy. */
inline stay() {
  do
  :: if :: node == NONE && !stopped -> take() :: else fi;
    if
    :: node != NONE && !stopped -> execute()
    :: else ->
      node = NONE;
      becomeIdle();
      if :: isLast -> break :: else fi;
      /* Searches; or gives up. */
      if
      :: entered -> skip
      :: !entered && anything && !stopped ->
#ifdef FAULT_EARLY_TAKE
        /* Takes a node, and counts as busy after that. */
        atomic {
          entered = true;
          if
          :: stack[0] != 0 -> takeLowest(stack[0])
          :: stack[0] == 0 && stack[1] != 0 -> takeLowest(stack[1])
          :: else
          fi
        }
        busy++
#else
        enter()
#endif
      :: !entered -> skip
      fi;
      if :: !entered -> break :: else fi
    fi
#ifdef MAKES_WAY
  :: place > 0 && !stopped && node != NONE ->
    d_step { stack[place] = stack[place] | bit(node); node = NONE }
    makeWay();
    if :: wayMade -> break :: else fi
#endif
  od;
  if :: wayMade -> wayMade = false :: else -> detach() fi
}

active proctype Starter() {
  LOCALS;
  do
  :: runs < RUNS ->
    atomic { spare -> spare = false }
    d_step {
      runs++; begun = 0; done = 0; stopped = false; left[0] = 0; left[1] = 1; left[2] = 1; left[3] = 2;
      stack[0] = FIRST; stack[1] = 0; stack[2] = 0; place = 0; taken[0] = true; busy = 1;
      participants = 1 + SENT; users = 1 + SENT; coming = SENT
    }
#ifdef SOURCES
    summon();
#endif
    stay()
  :: else -> break
  od;
  spare; assert(ended == RUNS)
}

active [HELPERS] proctype Helper() {
  LOCALS;
end:
  do
  :: d_step {
       if :: coming > 0 -> coming-- :: back > 0 -> back-- fi
     }
    atomic {
      place = 0;
      do :: taken[place] -> place++; assert(place < LIMIT) :: else -> break od;
      taken[place] = true
    }
    enter();
    if :: entered -> stay() :: else -> detach() fi
  od
}

#ifdef STOPPER
active proctype Stopper() {
end:
  d_step { runs > 0 && ended < runs -> stopped = true }
}
#endif
