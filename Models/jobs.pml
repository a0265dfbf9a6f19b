/*
 * Durable jobs: workers in several processes claim the jobs of a store, run them, and record the endings of
 * attempts.
 *
 *   worker    WorkerSession, WorkerState.nextExchange(at:), finish(_:lanes:_:), end(_:_:at:)
 *   store     JobTransitions, JobTransaction.claim(_:by:), end(_:), releaseAll(of:except:), remove(_:isDead:)
 *   rescuer   SQLiteJobStore.rescue(), WorkerLocks.lockIfDead(_:)
 *   canceller JobCommand.cancel
 *
 * The store executes each request in one transaction, so a request is one step. The request can be lost before that
 * step, and the answer after it. In between, anything else can happen, including the end of the process. The worker
 * then starts again with a new identity. The kernel releases a lock when the process ends.
 *
 * The model omits payloads, queues, priorities, pauses, unique keys, limits, dependencies, schedules, deadlines and
 * time limits. A worker claims one job at a time. Abandoned jobs are also omitted: their code can continue to run
 * during a retry that a person requests.
 *
 * Proved: the code of a job never runs twice at the same time (J175). Each ending is recorded once (J131), even if it
 * is repeated, and a repetition has the same answer if the job was not claimed again (J32). Each job ends once, and
 * none is lost (J130). No job is claimed after a request to cancel it (J51).
 */

#ifndef JOBS
#define JOBS 1
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef RESCUERS
#define RESCUERS 1
#endif
#ifndef CRASHES
#define CRASHES 1      /* The number of processes that are killed. */
#endif
#ifndef STOPS
#define STOPS 0        /* The number of workers that stop in an orderly way. */
#endif
#ifndef LOSSES
#define LOSSES 1       /* The number of requests and answers that are lost. */
#endif
#ifndef FAILURES
#define FAILURES 1     /* The number of attempts that fail, so that their jobs are retried. */
#endif
#ifndef SNOOZES
#define SNOOZES 0
#endif
#ifndef CANCELS
#define CANCELS 0      /* Whether each job receives a request to cancel it. */
#endif
#ifndef CRASH_LIMIT
#define CRASH_LIMIT 4  /* The number of crashes at which a job fails. */
#endif
#define IDENTITIES (WORKERS + CRASHES + STOPS)
#define NOBODY 15

mtype = { waiting, running, ended };                   /* The state of a job. */
mtype = { unknown, code, over, sent };                 /* The state of an attempt in its worker. */
mtype = { success, failure, snooze, release, cancel }; /* The ending of an attempt; a wait changes the same as a snooze. */

/* The store. */
mtype state[JOBS] = waiting;
byte owner[JOBS] = NOBODY;
byte attempt[JOBS];
byte epoch[JOBS];
byte crashCount[JOBS];
bool requested[JOBS];        /* There is a request to cancel the running job. */
bool row[IDENTITIES];        /* The worker is registered. */
bool stopped[IDENTITIES];    /* The end of its process is not a crash. */

/* The kernel. */
bool locked[IDENTITIES];

/* The memory of a worker, for each job. */
#define at(w, j) ((w) * JOBS + (j))
mtype place[WORKERS * JOBS] = unknown;
mtype action[WORKERS * JOBS];
byte fenceAttempt[WORKERS * JOBS];
byte fenceEpoch[WORKERS * JOBS];

/* Only for the properties, and the remaining numbers of crashes, stops, losses and so on. */
byte codes[JOBS];                    /* The number of processes that run code of the job. */
byte ends[JOBS];                     /* The number of times that the job has ended. */
byte recorded[WORKERS * JOBS];       /* The number of times that the ending was recorded. */
bool cancelled[JOBS];
byte identity;                       /* The identity of the next worker. */
byte crashes = CRASHES, stops = STOPS, losses = LOSSES, failures = FAILURES, snoozes = SNOOZES;
byte left;                           /* The number of Promela processes that have ended. */

#if JOBS == 1
#define allEnded (state[0] == ended)
#define anyWaits (state[0] == waiting)
#define anyIs(w, p) (place[w] == p)
#else
#define allEnded (state[0] == ended && state[1] == ended)
#define anyWaits (state[0] == waiting || state[1] == waiting)
#define anyIs(w, p) (place[at(w, 0)] == p || place[at(w, 1)] == p)
#endif

#define isRunBy(j, w, id) (state[j] == running && owner[j] == id && attempt[j] == fenceAttempt[at(w, j)] && \
  epoch[j] == fenceEpoch[at(w, j)])

/* JobTransitions.finish */
inline finish(j) {
  state[j] = ended;
  ends[j]++;
  requested[j] = false;
  assert(ends[j] == 1)
}

/* JobTransitions.putBack */
inline putBack(j) {
  if
  :: requested[j] -> finish(j)
  :: !requested[j] -> state[j] = waiting
  fi
}

/* JobTransitions.end */
inline end(j, w, id) {
  if
#ifdef FAULT_UNFENCED
  :: state[j] == running ->
#else
  :: isRunBy(j, w, id) ->
#endif
    recorded[at(w, j)]++;
    assert(recorded[at(w, j)] == 1);
    if
    :: action[at(w, j)] == success || action[at(w, j)] == cancel -> finish(j)
    :: action[at(w, j)] == failure -> putBack(j)
    :: action[at(w, j)] == snooze || action[at(w, j)] == release -> attempt[j]--; putBack(j)
    fi
  :: else ->
    /* JobRecord.hasEnded: unless there was another claim, the answer is right about whether the ending was recorded. */
    assert(epoch[j] != fenceEpoch[at(w, j)] ||
      (recorded[at(w, j)] == 1) == (state[j] != running && owner[j] == id))
  fi
}

/* JobTransaction.releaseAll: gives back jobs that were claimed for an answer that was lost. */
inline releaseUnknown(j, w, id) {
  if
  :: state[j] == running && owner[j] == id &&
    !(isRunBy(j, w, id) && place[at(w, j)] == code) ->
    attempt[j]--;
    putBack(j)
  :: else
  fi
}

/* JobTransaction.remove */
inline remove(id, isDead) {
  if
  :: row[id] ->
    row[id] = false;
    j = 0;
    do
    :: j < JOBS && state[j] == running && owner[j] == id ->
      attempt[j]--;
      owner[j] = NOBODY;
      if
      :: isDead && !stopped[id] -> crashCount[j]++
      :: else
      fi;
      if
      :: crashCount[j] == CRASH_LIMIT -> finish(j)
      :: else ->
#ifdef FAULT_LOST_REQUEST
        requested[j] = false;
#endif
        putBack(j)
      fi;
      j++
    :: j < JOBS && !(state[j] == running && owner[j] == id) -> j++
    :: j == JOBS -> break
    od
  :: !row[id]
  fi;
  j = 0
}

/* The process ends: its code no longer runs, and the kernel releases its lock. */
inline endProcess(w, id) {
  j = 0;
  do
  :: j < JOBS ->
    if
    :: place[at(w, j)] == code -> codes[j]--
    :: else
    fi;
    place[at(w, j)] = unknown;
    recorded[at(w, j)] = 0;
    fenceAttempt[at(w, j)] = 0;
    fenceEpoch[at(w, j)] = 0;
    action[at(w, j)] = 0;
    j++
  :: j == JOBS -> break
  od;
  j = 0;
  locked[id] = false
}

proctype worker(byte w) {
  byte id, j, claimed;
  bool lost, hasLostAnswer, isStopping;

begin:
  atomic { id = identity; identity++; locked[id] = true };
  row[id] = true;
  do
  /* WorkerState.nextExchange: the store executes the endings, then the claim. */
  :: atomic { anyIs(w, over) || hasLostAnswer || (anyWaits && !isStopping) ->
      claimed = NOBODY;
      j = 0;
      do
      :: j < JOBS -> if :: place[at(w, j)] == over -> place[at(w, j)] = sent :: else fi; j++
      :: j == JOBS -> break
      od;
      j = 0;
      if
      :: losses > 0 -> losses--; lost = true
      :: lost = false;
        do
        :: j < JOBS -> if :: place[at(w, j)] == sent -> end(j, w, id) :: else fi; j++
        :: j == JOBS -> break
        od;
        j = 0;
        do
        :: hasLostAnswer && j < JOBS -> releaseUnknown(j, w, id); j++
        :: else -> break
        od;
        j = 0;
        if
        :: row[id] && !isStopping ->
          /* Claims any of the waiting jobs. */
          if
          :: state[0] == waiting -> claimed = 0
          :: state[JOBS - 1] == waiting -> claimed = JOBS - 1
          :: else
          fi;
          if
          :: claimed != NOBODY ->
            assert(!cancelled[claimed]);
            state[claimed] = running;
            owner[claimed] = id;
            attempt[claimed]++;
#ifndef FAULT_SAME_EPOCH
            epoch[claimed]++
#endif
          :: else
          fi
        :: else
        fi;
        if
        :: losses > 0 -> losses--; lost = true
        :: true
        fi
      fi;
      j = 0
    };
    /* The answer: WorkerState.finish. */
    atomic {
      if
      :: crashes > 0 -> crashes--; goto dies
      :: true
      fi;
      do
      :: j < JOBS ->
        if
        :: place[at(w, j)] == sent && lost -> place[at(w, j)] = over
        :: place[at(w, j)] == sent && !lost ->
          place[at(w, j)] = unknown;
          recorded[at(w, j)] = 0;
          action[at(w, j)] = 0
        :: else
        fi;
        j++
      :: j == JOBS -> break
      od;
      j = 0;
      if
      :: !lost && claimed != NOBODY ->
        place[at(w, claimed)] = code;
        fenceAttempt[at(w, claimed)] = attempt[claimed];
        fenceEpoch[at(w, claimed)] = epoch[claimed];
        codes[claimed]++;
        assert(codes[claimed] == 1)
      :: else
      fi;
      claimed = 0;
      hasLostAnswer = lost;
      lost = false
    }

  /* The code of a job returns. */
  :: atomic { anyIs(w, code) ->
      if
      :: place[at(w, 0)] == code -> j = 0
      :: place[at(w, JOBS - 1)] == code -> j = JOBS - 1
      fi;
      if
      :: action[at(w, j)] = success
      :: failures > 0 -> failures--; action[at(w, j)] = failure
      :: snoozes > 0 -> snoozes--; action[at(w, j)] = snooze
      :: isStopping -> action[at(w, j)] = release
      :: requested[j] && isRunBy(j, w, id) -> action[at(w, j)] = cancel
      fi;
      place[at(w, j)] = over;
      codes[j]--;
      j = 0
    }

  :: atomic { crashes > 0 && !allEnded -> crashes--; goto dies }

  :: atomic { stops > 0 && !isStopping && !allEnded -> stops--; isStopping = true }

  /* WorkerSession.leave: code that does not respond to its cancellation might still run. */
  :: atomic { isStopping && !anyIs(w, over) && !hasLostAnswer ->
      if
      :: losses > 0 -> losses--
      :: true ->
        if
#ifndef FAULT_IGNORES_CODE
        :: anyIs(w, code) -> stopped[id] = true
        :: !anyIs(w, code) ->
#else
        :: true ->
#endif
          remove(id, false)
        fi;
        if
        :: losses > 0 -> losses--
        :: true -> hasLostAnswer = true  /* It has received the answer, and leaves. */
        fi
      fi;
      /* It tries again, or leaves without the answer. */
      if
      :: !hasLostAnswer -> goto again
      :: true -> goto leaves
      fi
    };
again:
    skip

  :: atomic { allEnded && !anyIs(w, over) && !anyIs(w, code) && !hasLostAnswer -> break }
  od;
  atomic { endProcess(w, id); left++ };
  goto done;

leaves:
  skip;
dies:
  atomic {
    endProcess(w, id);
    hasLostAnswer = false;
    isStopping = false;
    lost = false;
    claimed = 0;
    goto begin
  };
done:
  skip
}

/* WorkerLocks.lockIfDead: the rescuer holds the lock of the dead worker from now on. */
#ifdef FAULT_UNLOCKED_RESCUE
#define lockIfDead(n) atomic { row[n] -> id = n }
#else
#define lockIfDead(n) atomic { row[n] && !locked[n] -> locked[n] = true; id = n }
#endif

proctype rescuer() {
  byte id, j;
  do
  :: if
    :: lockIfDead(0)
    :: lockIfDead(1)
#if IDENTITIES > 2
    :: lockIfDead(2)
#endif
#if IDENTITIES > 3
    :: lockIfDead(3)
#endif
#if IDENTITIES > 4
    :: lockIfDead(4)
#endif
    fi;
    /* Executes the transaction, unless the rescuer's process ends first. */
    atomic {
      if
      :: losses > 0 -> losses--
      :: remove(id, true)
      fi
    };
    atomic {
#ifndef FAULT_UNLOCKED_RESCUE
      locked[id] = false;
#endif
      id = 0
    }
  :: atomic { allEnded -> break }
  od;
  left++
}

proctype canceller(byte j) {
  atomic {
    if
    :: state[j] == waiting -> cancelled[j] = true; finish(j)
    :: state[j] == running -> cancelled[j] = true; requested[j] = true
    :: state[j] == ended
    fi;
    left++
  }
}

init {
  byte j;
  atomic {
    do
    :: j < WORKERS -> run worker(j); j++
    :: j == WORKERS -> break
    od;
    j = 0;
    do
    :: j < RESCUERS -> run rescuer(); j++
    :: j == RESCUERS -> break
    od;
    j = 0;
    do
    :: CANCELS && j < JOBS -> run canceller(j); j++
    :: else -> break
    od;
    j = 0
  };
  left == WORKERS + RESCUERS + CANCELS * JOBS;
  do
  :: j < JOBS -> assert(state[j] == ended && ends[j] == 1 && codes[j] == 0); j++
  :: j == JOBS -> break
  od
}
