/* How the fraction of a progress with parts is kept (section "Progress" of README.md): a whole with one part, which has
   parts of its own, the leaves.

   part                represents
   change              a critical section of a leaf, which completes a unit; countUnit(of:) also finds out there whether
                       the leaf has a parent, and does not report if it has none
   report              OperationProgress.report(): notes the leaf in the middle, and the middle in the whole
   middleFraction      State.fraction() of the middle, under its lock: reads the leaves that are noted
   wholeFraction       State.fraction() of the whole, which reads the middle under both locks
   Reporter            a thread that changes a leaf, reports, and then reads the fraction of the whole
   Asker               a thread that reads the fraction of the middle, like a thread that notifies its observers
   Adder               OperationProgress.adopt(_:): sets the parent of the first leaf, makes it a part, and reports it
                       (-DADDS)

   Left out: the removal of parts, whose units are then counted in the whole itself; the rounding of sums.

   Proved: a thread that has reported a change finds it in the fraction of the whole. At rest, all changes are in it. A
   list contains each part once. */

#ifndef REPORTERS
#define REPORTERS 2
#endif
#ifndef LEAVES
#define LEAVES 1                        /* reporter i changes leaf i % LEAVES */
#endif
#ifndef CHANGES
#define CHANGES 2                       /* by each reporter */
#endif
#ifndef ASKERS
#define ASKERS 1
#endif

#ifdef ADDS
#define ADDED 1                         /* at first, the first leaf has no parent */
#else
#define ADDED 0
#endif

byte value[LEAVES];                     /* the completed units of a leaf */
bool hasParent[LEAVES] = !ADDED;
bool isPart[LEAVES] = !ADDED;           /* it is one of the parts of the middle */
bool noted[LEAVES];                     /* its hasReported */
byte listed[LEAVES];                    /* how often it is in the middle's list */
byte middleKnows[LEAVES];               /* the units that the middle has read last */
bool middleNoted;
byte middleListed;
byte wholeKnows[LEAVES];                /* the units that the whole has read last, through the middle */
bool leafLock[LEAVES], middleLock, wholeLock;
byte done;

#define lock(l) atomic { !l -> l = true }
#define unlock(l) l = false
#define section(l) !l                   /* one step under a lock */

inline report(leaf) {
  atomic { section(leafLock[leaf]); has = hasParent[leaf] };
  if
  :: !has || noted[leaf]
  :: else ->
     atomic {
       section(middleLock);
       if
       :: !noted[leaf] -> noted[leaf] = true; listed[leaf]++
       :: else
       fi
     }
  fi;
  atomic { section(middleLock) };       /* part.parent */
  if
  :: !has || middleNoted
  :: else ->
     atomic {
       section(wholeLock);
       if
       :: !middleNoted -> middleNoted = true; middleListed++
       :: else
       fi
     }
  fi
}

/* Under the middle's lock. */
inline middleFraction() {
  i = 0;
  do
  :: i < LEAVES ->
     if
     :: listed[i] > 0 ->
        d_step { listed[i]--; assert(ADDED || listed[i] == 0) };
        if
        :: isPart[i] ->
#ifndef FAULT_CLEARS_LATE
           noted[i] = false;
#endif
           atomic { section(leafLock[i]); middleKnows[i] = value[i] };
#ifdef FAULT_CLEARS_LATE
           noted[i] = false;
#endif
        :: else
        fi
     :: else -> i++
     fi
  :: else -> break
  od
}

inline wholeFraction() {
  lock(wholeLock);
  if
  :: middleListed > 0 ->
     d_step { middleListed--; assert(middleListed == 0) };
#ifndef FAULT_CLEARS_LATE
     middleNoted = false;
#endif
     lock(middleLock);
     middleFraction();
     skip;                              /* a d_step can't be the target of a jump */
     d_step {
       i = 0;
       do :: i < LEAVES -> wholeKnows[i] = middleKnows[i]; i++ :: else -> break od;
       i = 0
     };
     unlock(middleLock);
#ifdef FAULT_CLEARS_LATE
     middleNoted = false;
#endif
  :: else
  fi;
  unlock(wholeLock)
}

active [REPORTERS] proctype Reporter() {
  byte i, own, count, leaf = _pid % LEAVES;
  bool has;
  do
  :: count < CHANGES ->
#ifdef FAULT_REPORTS_FIRST
     report(leaf);
#endif
 #ifdef FAULT_EARLY_PARENT
    atomic { section(leafLock[leaf]); has = hasParent[leaf] };
    atomic { section(leafLock[leaf]); value[leaf]++; own = value[leaf] };
#else
    atomic { section(leafLock[leaf]); value[leaf]++; own = value[leaf]; has = hasParent[leaf] };
#endif
#ifndef FAULT_REPORTS_FIRST
#ifdef FAULT_STOPS
     /* Assumes that a noted leaf is noted up to the top. */
     if :: noted[leaf] :: else -> report(leaf) fi;
#else
     if
     :: !has                            /* countUnit(of:) */
     :: report(leaf)
     fi;
#endif
#endif
     wholeFraction();
     assert(ADDED || wholeKnows[leaf] >= own);
     count++
  :: else -> break
  od;
  done++
}

active [ASKERS] proctype Asker() {
  byte i;
  lock(middleLock);
  middleFraction();
  unlock(middleLock)
}

#ifdef ADDS
active proctype Adder() {
  bool has;
  atomic { section(leafLock[0]); hasParent[0] = true };
  atomic {
    section(middleLock);
    isPart[0] = true;
    noted[0] = true;
    listed[0]++
  };
#ifndef FAULT_UNREPORTED
  report(0);
#endif
  done++
}
#endif

active proctype Observer() {
  byte i;
  done == REPORTERS + ADDED;
  wholeFraction();
  i = 0;
  do
  :: i < LEAVES -> assert(wholeKnows[i] == value[i]); i++
  :: else -> break
  od
}
