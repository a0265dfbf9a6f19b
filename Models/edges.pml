/* Dependencies: edges that are pushed onto a stack, and the end that closes it (section "Edges" of README.md).

   part                represents
   D                   an operation that others wait for; its stack is Operation.dependents
   X                   an operation that waits; EDGE(x, d) is its slot for D, and its edge in D's stack
   Ender(d)            the end of D: finish(), OperationEnding, countDown, without the lock of D's links if possible
   Adder(x, d)         X.addDependency(D)
   Remover(x, d)       X.removeDependency(D)
   Runner(x)           a worker that starts X when nothing keeps it, and ends it
   Canceller(x)        X ends even though dependencies keep it from starting: cancel(), finish()
   Looker(x)           X.dependencies
   Deinit(x)           the deinit of X, when there are no references left

   Each change of a state word, a stack or a slot is one step. X is retained by each thread that uses it, and by its
   queue if it has a Runner or a Canceller. D is retained by its Ender, by each Adder, and by each slot that lists it.
   A D that had finished when it was added is listed by a slot whose edge is unlinked, because it might never close its
   stack.
   Left out: weak memory; further slots, which are created under the lock of X's links; dependents in other queues.

   Proved: no freed object is read. Each edge is counted down at most once, and X is started when all have been counted
   down. No freed object stays in a stack. D is released once for each slot. No thread waits forever. */

#ifndef ND
#define ND 1
#endif
#ifndef NX
#define NX 2
#endif
#define NE (ND * NX)
#define EDGE(x, d) ((x) * ND + (d) + 1)
#define OWNER(e) (((e) - 1) / ND)

#define PENDING 0
#define FINISHED 1
#define CLOSED 100                      /* the end walks the stack */
#define DONE 101                        /* it has */

/* The state words: each access is one step. */
byte phaseX[NX], countX[NX]; bool seenX[NX];
bool finishedD[ND], linkedD[ND], edgedD[ND];
/* The stacks; `listed` contains edges that were moved from there under the lock of D's links. */
byte top[ND], next[NE + 1]; bool listed[NE + 1];
/* The slots: empty, listing D, and listing D with an edge that is unlinked. */
#define EMPTY 0
#define FILLED 1
#define OUT 2
byte slot[NE + 1];
bool lockD[ND], lockX[NX];
/* For the proof. */
byte referencesX[NX], referencesD[ND]; bool freedX[NX];
byte counted[NE + 1], starts[NX];

#define isOpen(h) ((h) != CLOSED && (h) != DONE)

inline lock(l) { atomic { !l -> l = true } }
inline release(d) { atomic { assert(referencesD[d] > 0); referencesD[d]-- } }

inline countDown(e) {                   /* the edge's owner is not read after this step */
  atomic {
    assert(!freedX[OWNER(e)] && countX[OWNER(e)] > 0);
    countX[OWNER(e)]--; counted[e]++; assert(counted[e] == 1)
  }
}

/* Operation.removeDependent(_:): if `isUnlinked`, the edge is in no stack, and never will be. Otherwise, it is about to
   be pushed. */
inline leave(e, d) {
  do
  :: lock(lockD[d]);
     assert(referencesD[d] > 0);
#ifdef FAULT_UNANNOUNCED
     atomic { wasFinished = finishedD[d]; wasLinked = linkedD[d] };
#else
     atomic { wasFinished = finishedD[d]; wasLinked = linkedD[d];
       if :: !finishedD[d] -> linkedD[d] = true :: else fi };
#endif
     if
     :: wasFinished && top[d] == DONE -> isUnlinked = true; lockD[d] = false; break
#ifndef FAULT_NO_WAIT
     :: wasFinished && top[d] != DONE && !wasLinked ->
        lockD[d] = false;
        top[d] == DONE
#endif
     :: else ->
        do                              /* move all to the list */
        :: position = top[d];
           if
           :: position == 0 || !isOpen(position) -> break
           :: else ->
              atomic { if :: top[d] == position -> top[d] = 0; moved = true :: else -> moved = false fi };
              do
              :: moved && position != 0 -> assert(!freedX[OWNER(position)]); listed[position] = true; position = next[position]
              :: else -> break
              od
           fi
        od;
        isUnlinked = listed[e]; wasThere = listed[e]; listed[e] = false;
        lockD[d] = false; break
     fi
  od
}
#define LEAVES bool wasFinished, wasLinked, moved, isUnlinked, wasThere; byte position

/* Leaves unfinished dependencies and releases unlinked ones, or all if nothing is counted. X has finished. */
inline leaveAll(x) {
  d = 0;
  do
  :: d < ND ->
     lock(lockX[x]);
     if
     :: slot[EDGE(x, d)] == FILLED ->
        referencesD[d]++; lockX[x] = false;
        isUnlinked = false; leave(EDGE(x, d), d);
        lock(lockX[x]);
#ifdef FAULT_TAKES_ALL
        isUnlinked = true;
#endif
#ifdef FAULT_MARKS_EMPTY
        if :: isUnlinked -> slot[EDGE(x, d)] = OUT :: else fi;
#else
        if :: isUnlinked && slot[EDGE(x, d)] == FILLED -> slot[EDGE(x, d)] = OUT :: else fi;
#endif
        if :: slot[EDGE(x, d)] == OUT -> slot[EDGE(x, d)] = EMPTY; release(d) :: else fi;
        lockX[x] = false;
        release(d)
     :: else -> lockX[x] = false
     fi;
     d++
  :: else -> break
  od;
  d = 0
}

inline takeAll(x) {
  d = 0;
  do
  :: d < ND -> if :: slot[EDGE(x, d)] != EMPTY -> slot[EDGE(x, d)] = EMPTY; release(d) :: else fi; d++
  :: else -> break
  od;
  d = 0
}

proctype Ender(byte d) {
  bool wasLinked, wasEdged; byte e, following, oldest;
  atomic { finishedD[d] = true; wasLinked = linkedD[d]; wasEdged = edgedD[d] };
#ifdef FAULT_NO_LOCK
  wasLinked = false;
#endif
  if
  :: wasLinked || wasEdged ->
     if :: wasLinked -> lock(lockD[d]) :: else fi;
     atomic { e = top[d]; top[d] = CLOSED };
     do                                 /* the oldest first */
     :: e != 0 -> assert(!freedX[OWNER(e)]); following = next[e]; next[e] = oldest; oldest = e; e = following
     :: else -> break
     od;
     e = 1;
     do
     :: wasLinked && e <= NE && (e - 1) % ND == d && listed[e] -> listed[e] = false; countDown(e); e++
     :: wasLinked && e <= NE && !((e - 1) % ND == d && listed[e]) -> e++
     :: else -> break
     od;
     e = oldest;
     do
     :: e != 0 ->
        assert(!freedX[OWNER(e)]);
#ifdef FAULT_LATE_NEXT
        countDown(e); following = e; assert(!freedX[OWNER(following)]); e = next[e]
#else
        following = next[e]; countDown(e); e = following
#endif
     :: else -> break
     od;
     top[d] = DONE;
     if :: wasLinked -> lockD[d] = false :: else fi
  :: else
  fi;
  release(d)
}

proctype Adder(byte x; byte to) {
  LEAVES; byte d, h; bool hasFinished, pushed, claimed, mayLook;
  atomic { hasFinished = finishedD[to];
#ifndef FAULT_UNMARKED
    if :: !hasFinished -> edgedD[to] = true :: else fi
#endif
  };
  if
  :: hasFinished ->                     /* listed under the lock, and not counted */
     lock(lockX[x]);
     atomic { mayLook = seenX[x] || phaseX[x] != FINISHED; if :: phaseX[x] != FINISHED -> seenX[x] = true :: else fi };
     atomic { claimed = mayLook && phaseX[x] == PENDING && slot[EDGE(x, to)] == EMPTY };
     if
     :: claimed ->
        referencesD[to]++;
#ifdef FAULT_LISTS_FINISHED
        slot[EDGE(x, to)] = FILLED
#else
        slot[EDGE(x, to)] = OUT
#endif
     :: else
     fi;
     lockX[x] = false
  :: else ->
     atomic { claimed = (phaseX[x] == PENDING); if :: claimed -> countX[x]++ :: else fi };
     if
     :: claimed ->
        atomic { referencesD[to]++; slot[EDGE(x, to)] = FILLED };
        do
        :: h = top[to];
           if
           :: isOpen(h) ->
              next[EDGE(x, to)] = h;
              atomic { if :: top[to] == h -> top[to] = EDGE(x, to); pushed = true :: else fi };
              if :: pushed -> break :: else fi
           :: else -> countDown(EDGE(x, to)); break
           fi
        od;
#ifdef FAULT_LEAVES_ALWAYS
        if :: phaseX[x] == FINISHED -> leaveAll(x) :: else fi
#else
        if :: phaseX[x] == FINISHED && seenX[x] -> leaveAll(x) :: else fi
#endif
     :: else
     fi
  fi;
  release(to);
  referencesX[x]--
}

proctype Remover(byte x; byte d) {
  LEAVES; bool mayLook;
again:
  lock(lockX[x]);                       /* and D's, in the order of the addresses: leave(_:) takes it here */
  atomic { mayLook = seenX[x] || phaseX[x] != FINISHED; if :: phaseX[x] != FINISHED -> seenX[x] = true :: else fi };
  if
  :: mayLook && slot[EDGE(x, d)] != EMPTY ->
     isUnlinked = false; wasThere = false;
     if
     :: slot[EDGE(x, d)] == OUT -> isUnlinked = true
     /* Outside of both locks. */
     :: slot[EDGE(x, d)] == FILLED && finishedD[d] && !linkedD[d] && top[d] != DONE ->
        referencesD[d]++; lockX[x] = false; top[d] == DONE; release(d); goto again
     :: else -> leave(EDGE(x, d), d)
     fi;
#ifdef FAULT_REMOVES_EARLY
     isUnlinked = true;
#endif
     if :: isUnlinked -> slot[EDGE(x, d)] = EMPTY :: else fi;
     lockX[x] = false;
     if :: wasThere -> countDown(EDGE(x, d)) :: else fi;
     if :: isUnlinked -> release(d) :: else fi
  :: else -> lockX[x] = false
  fi;
  referencesX[x]--
}

/* The end of X, once nothing is counted. */
inline endPlainly(x) {
  if
  :: wasSeen -> lock(lockX[x]); takeAll(x); lockX[x] = false
  :: else -> takeAll(x)
  fi
}

proctype Runner(byte x) {
  byte d; bool wasSeen, begins;
  do
  :: atomic { countX[x] == 0 && phaseX[x] == PENDING ->
       phaseX[x] = FINISHED; wasSeen = seenX[x]; starts[x]++ }
#ifdef FAULT_UNSEEN
     wasSeen = false;
#endif
     endPlainly(x); break
  :: atomic { phaseX[x] == FINISHED -> break }
  :: atomic { timeout -> break }        /* it waits for an operation that never ends */
  od;
  referencesX[x]--
}

proctype Canceller(byte x) {
  LEAVES; byte d, count; bool wins, wasSeen;
  atomic { wins = phaseX[x] == PENDING; count = countX[x]; wasSeen = seenX[x];
    if :: wins -> phaseX[x] = FINISHED; seenX[x] = seenX[x] || count > 0 :: else fi };
  if
  :: wins && count > 0 -> leaveAll(x)
  :: wins && count == 0 -> endPlainly(x)
  :: else
  fi;
  referencesX[x]--
}

proctype Looker(byte x) {
  byte d; bool mayLook;
  lock(lockX[x]);
  atomic { mayLook = seenX[x] || phaseX[x] != FINISHED; if :: phaseX[x] != FINISHED -> seenX[x] = true :: else fi };
  do
  :: mayLook && d < ND ->
     if
     :: slot[EDGE(x, d)] != EMPTY -> assert(referencesD[d] > 0); referencesD[d]++; release(d)
     :: else
     fi;
     d++
  :: else -> break
  od;
  lockX[x] = false;
  referencesX[x]--
}

proctype Deinit(byte x) {
  LEAVES; byte d;
  referencesX[x] == 0;
  do
  :: d < ND ->
     if
     :: slot[EDGE(x, d)] != EMPTY ->
#ifndef FAULT_FORGETS
        if :: slot[EDGE(x, d)] == FILLED && countX[x] > 0 -> leave(EDGE(x, d), d); assert(isUnlinked) :: else fi;
#endif
        slot[EDGE(x, d)] = EMPTY; release(d)
     :: else
     fi;
     d++
  :: else -> break
  od;
  freedX[x] = true
}

#define KNOWS(x) referencesX[x]++
#define ADDS(x, d) KNOWS(x); referencesD[d]++; run Adder(x, d)
#define OF(set, n) (((set) >> (n)) & 1)

/* Sets of edges, bit e - 1, and of operations. */
#ifndef ADDERS
#define ADDERS 3
#endif
#ifndef REMOVERS
#define REMOVERS 0
#endif
#ifndef ENDERS
#define ENDERS 3
#endif
#ifndef RUNNERS
#define RUNNERS 0
#endif
#ifndef CANCELLERS
#define CANCELLERS 0
#endif
#ifndef LOOKERS
#define LOOKERS 0
#endif

init {
  byte n;
  atomic {
    n = 0;
    do :: n < ND -> if :: OF(ENDERS, n) -> referencesD[n]++; run Ender(n) :: else fi; n++ :: else -> break od;
    n = 0;
    do
    :: n < NE ->
       if :: OF(ADDERS, n) -> ADDS(n / ND, n % ND) :: else fi;
       if :: OF(REMOVERS, n) -> KNOWS(n / ND); run Remover(n / ND, n % ND) :: else fi;
       n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < NX ->
       if :: OF(RUNNERS, n) -> KNOWS(n); run Runner(n) :: else fi;
       if :: OF(CANCELLERS, n) -> KNOWS(n); run Canceller(n) :: else fi;
       if :: OF(LOOKERS, n) -> KNOWS(n); run Looker(n) :: else fi;
       run Deinit(n);
       n++
    :: else -> break
    od;
    n = 0
  }
  _nr_pr == 1;
  do
  :: n < ND -> assert(referencesD[n] == 0 && !lockD[n] && (top[n] == 0 || top[n] == DONE)); n++
  :: else -> break
  od;
  n = 0;
  do
  :: n < NE -> assert(!listed[n + 1] && slot[n + 1] == EMPTY); n++
  :: else -> break
  od
}
