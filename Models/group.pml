/* The end of a group of operations. Operations can be added until then (section "Group" of README.md).

   part                represents
   Starter             GroupOperation.run(), after which the group closes its queue as soon as it can
   close               GroupQueue.close(then:): three critical sections, of the additions, the queue, the additions
   add                 GroupQueue.enter(_:_:): a critical section of the additions before and after that of the queue
   Worker              runs operations of the group, which may add others; the end that empties the queue calls back
   Adder               a thread that adds from outside, and is refused once the queue is closed

   Left out: cancellation, which adds no operations, and ends them in the same way.

   Proved: the queue is closed once. It is empty then, and receives nothing afterwards. */

#ifndef ADDERS
#define ADDERS 1
#endif
#ifndef INSIDE
#define INSIDE 2                        /* how many operations each add another, from inside */
#endif
#define FIRST 1                         /* how many operations there are at the start */

byte count = FIRST, startable = FIRST, additions, begun, inside = INSIDE, handlers;
bool closed, registered, postponed;

#define LOCALS byte seen; bool goesOn, comesBack

inline close() {
  do
  :: d_step {
       goesOn = (additions == 0);
       seen = begun;
       if :: !goesOn -> postponed = true :: else fi
     };
     if :: !goesOn -> break :: else fi;
     d_step {
       goesOn = (count == 0);
       if :: !goesOn -> registered = true :: else fi
     };
     if :: !goesOn -> break :: else fi;
     d_step {
#ifdef FAULT_UNSEEN
       closed = true;
#else
       closed = (begun == seen);
#endif
       goesOn = !closed
     };
     if
     :: !goesOn ->
        handlers++;
        assert(handlers == 1);
        assert(count == 0 && additions == 0);
        break
     :: else
     fi
  od;
  skip  /* the next statement can be a d_step, which can't be the target of a jump */
}

inline add() {
  d_step {
    goesOn = !closed;
    if :: goesOn -> additions++; begun++ :: else fi
  };
  if
  :: goesOn ->
     d_step { count++; startable++ };
     d_step {
       additions--;
       comesBack = (additions == 0 && postponed);
       if :: comesBack -> postponed = false :: else fi
     };
#ifndef FAULT_FORGETS
     if :: comesBack -> close() :: else fi
#endif
  :: else
  fi
}

active proctype Starter() {
  LOCALS;
  close()
}

active [2] proctype Worker() {
  LOCALS;
endWorker:
  do
  :: atomic { startable > 0 -> startable-- };
     assert(!closed);
     if
     :: atomic { inside > 0 -> inside-- };
        add()
     :: true
     fi;
     d_step {
       count--;
       comesBack = (count == 0 && registered);
       if :: comesBack -> registered = false :: else fi
     };
     if :: comesBack -> close() :: else fi
  :: closed && startable == 0 -> break
  od
}

active [ADDERS] proctype Adder() {
  LOCALS;
  add()
}

/* At rest, the group has ended. */
active proctype Observer() { closed; assert(count == 0) }
