/* How the end of an operation is recorded while listeners to events begin (section "Events" of README.md).

   part                represents
   Ender               the thread that ends an operation: Operation.finishPlainly(in:followedBy:), finishLogged()
   Listener            OperationQueueEvents.makeAsyncIterator(), and code that then reads the operation
   Adder               code that finds the operation finished and adds another one, whose event is appended
   log                 OperationQueue.eventLogPointer; the buffer of the listener is in the log before it is stored
   listeners           the bit Followers.log in OperationQueue.followers
   locked              the lock of the log

   Proved: a thread that finds the bit finds the log. If the listener finds the operation unfinished after it has begun,
   it receives the finished event. The event is appended at most once. If the listener began before the thread looked for
   the bit, the finished event precedes that of the operation that is added after the end. */

#define EXECUTING 0
#define FINISHED 1

byte phase = EXECUTING;
bool log, listeners;
bool locked;
byte count;                             /* the events in the log */
byte finishedAt, addedAt;               /* their positions, from 1; 0 if they are not there */
bool isKnown;                           /* the thread found the log before it ended the operation */
bool mustHear;                          /* the listener found the operation unfinished */
byte done;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline appendFinished() {
  d_step { assert(locked && finishedAt == 0); count++; finishedAt = count }
}

inline look(seen) {
  seen = listeners;
  if
  :: seen -> assert(log)
  :: else
  fi
}

active proctype Ender() {
  bool seen;
  look(seen);
  if
  :: seen ->
     isKnown = true;
#ifdef FAULT_UNLOCKED_END
     phase = FINISHED;
     lock();
#else
     lock();
     phase = FINISHED;
#endif
     appendFinished();
     unlock()
  :: else ->
     phase = FINISHED;
#ifndef FAULT_NO_LAST_LOG
     look(seen);
     if
     :: seen -> lock(); appendFinished(); unlock()
     :: else
     fi
#endif
  fi;
  done++
}

active proctype Listener() {
#ifdef FAULT_EARLY_BIT
  listeners = true;
  log = true;
#else
  log = true;
  listeners = true;
#endif
  mustHear = (phase == EXECUTING);
  done++
}

active proctype Adder() {
  bool seen;
  phase == FINISHED;
  look(seen);
  if
  :: seen ->
     lock();
     d_step { count++; addedAt = count };
     unlock()
  :: else
  fi;
  done++
}

active proctype Judge() {
  done == 3;
  assert(!mustHear || finishedAt > 0);
  assert(!isKnown || addedAt == 0 || finishedAt < addedAt)
}
