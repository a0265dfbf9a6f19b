/* How the completion block of an operation is set, read and taken out (section "Completion" of README.md).
   See Docs/decisions/0040-details-without-objects.md.

   part                represents
   Runner              the thread of a batch that runs the operation, which can set the block from inside: Operation.end(in:)
   Setter              setCompletionBlock(_:) of another thread
   Reader              completionBlock
   Other               code that announces a link for another reason, such as Operation.queue
   lock                the lock of the links

   Each block has a number. Proved: no two threads access the block at the same time. The runner runs at most one block,
   the last one that was set before the end. Each block that was set is run or released, once. */

#ifndef SETTERS
#define SETTERS 2
#endif

bool finished, linked, completes;       /* one state word: a d_step changes or reads all of it */
bool locked;
byte block;                             /* the block that is stored; 0 if there is none */
byte atBlock;                           /* threads that access the block at this moment */
byte over[SETTERS + 1];                 /* how many times each block was run or released */
byte last;                              /* the block that was set last before the end */
byte ended;                             /* threads that have done their part */

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline enter() { d_step { assert(atBlock == 0); atBlock++ } }
inline leave() { atBlock-- }

/* announceBeforeEnd(_:): the word before, and the flag, unless the operation has ended. */
inline announceLink() { d_step { wasFinished = finished; linked = linked || !finished } }
inline announceBlock() {
  d_step { wasFinished = finished; if :: !finished -> completes = true; last = stored :: else fi }
}

active proctype Runner() {
  byte mine;
  bool takesLock;
  d_step { finished = true; takesLock = linked };
#ifdef FAULT_NO_LOCK
  takesLock = false;
#endif
  if
  :: takesLock || completes ->
     if :: takesLock -> lock() :: else fi;
     enter(); mine = block; block = 0; leave();
     if :: takesLock -> unlock() :: else fi
  :: else
  fi;
  if :: mine != 0 -> assert(mine == last); over[mine]++ :: else fi;
  ended++
}

inline exchange() { d_step { stored = mine; mine = block; block = stored } }

proctype Setter(byte mine) {
  byte stored;
  bool isFirst, wasFinished;
  lock();
  d_step { isFirst = !linked && !completes; wasFinished = finished };
#ifdef FAULT_ALWAYS_FIRST
  isFirst = true;
#endif
  if :: !isFirst -> announceLink() :: else fi;
  if
  :: !wasFinished ->
#ifdef FAULT_ANNOUNCES_FIRST
     if :: isFirst -> announceBlock() :: else fi;
#endif
     enter(); exchange(); leave();
#ifndef FAULT_ANNOUNCES_FIRST
     if :: isFirst -> announceBlock() :: else fi;
#endif
     if
     /* The runner does not look for a block: it is taken back. */
     :: isFirst && wasFinished -> enter(); exchange(); leave()
     :: !isFirst -> last = stored
     :: else
     fi
  :: else
  fi;
  unlock();
  if :: mine != 0 -> over[mine]++ :: else fi;
  ended++
}

active proctype Reader() {
  bool wasFinished;
  lock();
#ifdef FAULT_READS_ALWAYS
  wasFinished = finished;
#else
  announceLink();
#endif
  if :: !wasFinished -> enter(); leave() :: else fi;
  unlock();
  ended++
}

active proctype Other() {
  bool wasFinished;
  lock(); announceLink(); unlock();
  ended++
}

init {
  byte each;
  atomic { each = 1; do :: each <= SETTERS -> run Setter(each); each++ :: else -> break od };
  ended == SETTERS + 3 ->
  /* A block that is still stored is released with the operation. */
  d_step {
    if :: block != 0 -> over[block]++ :: else fi;
    each = 1;
    do :: each <= SETTERS -> assert(over[each] == 1); each++ :: else -> break od
  }
}
