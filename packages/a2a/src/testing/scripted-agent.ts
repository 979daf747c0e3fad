/**
 * An agent over a small backend of its own, good enough to keep the agent contract, and able to break each promise of it
 * on purpose: for the test of the contract.
 */
import type { Agent, Report, Turn } from '../agents/agent.ts'
import { artifact, fail, inputRequired, status } from '../agents/reports.ts'
import type { AgentBench, AgentHarness } from './agent-contract/harness.ts'

/** What it does wrong. */
export type Breach =
  | 'answers otherwise'
  | 'answers in one piece'
  | 'never says a word'
  | 'shares one pen among all tasks'
  | 'forgets what the conversation was'
  | 'remembers by contextId alone'
  | 'remembers in the process'
  | 'ignores the signal'
  | 'fails when it is canceled'
  | 'stays busy when it is stopped'
  | 'completes where the backend failed'
  | 'fails without a word'
  | 'tells what is for the operator'
  | 'does not ask'
  | 'asks twice'
  | 'gives up when it is answered'
  | 'says a piece again'
  | 'begins again in the same artifact'
  | 'loses the job'
  | 'stops the job when the server goes'
  | 'leaves a timer'

type Reports = AsyncGenerator<Report, void, void>

interface Job {
  readonly pieces: string[]
  done: boolean
  wake: PromiseWithResolvers<void>
}

export interface ScriptedBench extends AgentBench {
  readonly begun: Promise<void>
  readonly stopped: Promise<void>
  release(): void
}

const slowPieces = ['one ', 'two ', 'three']

function openScripted(resume: AgentHarness['resume'], breach: Breach | undefined): ScriptedBench {
  const begun = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const jobs = new Map<string, Job>()
  const kept = new Map<string, string>()
  let memory = new Map<string, string>()
  let pen = ''
  let isBusy = false

  async function* run(turn: Turn): Reports {
    const [verb, word = ''] = turn.text.split(' ')
    if (breach === 'never says a word') await new Promise(() => {})
    if (isBusy) await new Promise(() => {})
    if (breach === 'leaves a timer') setTimeout(() => {}, 2_000)
    if (turn.remembered === 'asked') yield* answered(turn)
    else if (verb === 'long') yield* long(turn)
    else if (verb === 'fail') yield* failing()
    else if (verb === 'remember') yield remember(turn, word)
    else if (verb === 'recall') yield memory.get(keyOf(turn)) ?? 'nothing'
    else if (verb === 'ask') yield* ask(turn)
    else if (verb === 'slow') yield* slow(turn)
    else yield* chat(word)
  }

  async function* chat(word: string): Reports {
    pen = breach === 'answers otherwise' ? 'something' : word
    if (breach === 'answers in one piece') return yield `you said ${word}.`
    yield 'you '
    await new Promise((resolve) => setImmediate(resolve))
    yield 'said '
    yield `${breach === 'shares one pen among all tasks' || breach === 'answers otherwise' ? pen : word}.`
  }

  async function* long({ signal }: Turn): Reports {
    yield status('at it')
    begun.resolve()
    if (breach === 'ignores the signal') await new Promise(() => {})
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    stopped.resolve()
    isBusy = breach === 'stays busy when it is stopped'
    if (breach === 'fails when it is canceled') yield fail('It was stopped')
    throw signal.reason
  }

  async function* failing(): Reports {
    if (breach === 'completes where the backend failed') return yield 'all is well'
    if (breach === 'fails without a word') return yield { state: 'TASK_STATE_FAILED' }
    yield fail(breach === 'tells what is for the operator' ? 'host-7.internal is down' : 'The backend is down')
  }

  function remember(turn: Turn, word: string): string {
    const memories = breach === 'remembers in the process' ? memory : kept
    if (breach !== 'forgets what the conversation was') memories.set(keyOf(turn), word)
    if (memories === kept) memory = new Map(kept)
    return 'noted'
  }

  function keyOf({ tenant, caller, task }: Turn): string {
    return JSON.stringify(
      breach === 'remembers by contextId alone' ? task.contextId : [tenant, caller.id, task.contextId],
    )
  }

  async function* ask(turn: Turn): Reports {
    if (breach === 'does not ask') return yield 'Paris it is'
    await turn.checkpoint('asked')
    yield inputRequired('Which city?')
  }

  async function* answered({ text, checkpoint }: Turn): Reports {
    if (breach === 'asks twice') yield inputRequired('Which city?')
    if (breach === 'gives up when it is answered') yield fail('Never mind')
    await checkpoint('answered')
    yield `${text} it is`
  }

  async function* slow(turn: Turn): Reports {
    if (resume === 'reattach') return yield* watch(turn, startJob(turn.task.id))
    const again = turn.resumed !== undefined && breach === 'begins again in the same artifact'
    yield again ? artifact('answer', { text: 'one ', append: true }) : 'one '
    await turn.checkpoint('begun')
    begun.resolve()
    await released.promise
    yield again ? artifact('answer', { text: 'two three', append: true }) : 'two three'
  }

  function startJob(id: string): Job {
    const job: Job = { pieces: [slowPieces[0] as string], done: false, wake: Promise.withResolvers() }
    jobs.set(id, job)
    void released.promise.then(() => {
      job.pieces.push(...slowPieces.slice(1))
      job.done = true
      job.wake.resolve()
    })
    return job
  }

  async function* watch(turn: Turn, job: Job, from = 0): Reports {
    const { signal } = turn
    const leave = (): void => {
      if (breach === 'stops the job when the server goes') jobs.delete(turn.task.id)
      job.wake.resolve()
    }
    signal.addEventListener('abort', leave)
    for (let at = from; ; at += 1) {
      while (at >= job.pieces.length && !job.done && !signal.aborted) await job.wake.promise
      const piece = job.pieces[at]
      if (signal.aborted) throw signal.reason
      if (piece === undefined) return
      yield artifact('answer', { text: piece, append: at > 0 })
      if (at === 0) {
        await turn.checkpoint('first')
        begun.resolve()
      }
    }
  }

  async function* reattach(turn: Turn): Reports {
    const job = breach === 'loses the job' ? undefined : jobs.get(turn.task.id)
    if (job === undefined) return yield fail('The job is gone')
    job.wake = Promise.withResolvers()
    if (job.done) job.wake.resolve()
    const said = (await turn.artifacts()).flatMap(({ parts }) => parts).map((part) => ('text' in part ? part.text : ''))
    const count = said.join('') === '' ? 0 : 1
    if (breach === 'says a piece again') yield artifact('answer', { text: slowPieces[0] as string, append: true })
    yield* watch(turn, job, count)
  }

  function agent(): Agent {
    if (resume === 'fail') return run
    return resume === 'rerun' ? { resume, run } : { resume, run, reattach }
  }

  return {
    agent: agent(),
    reopen() {
      memory = new Map(kept)
      return agent()
    },
    async close() {},
    begun: begun.promise,
    stopped: stopped.promise,
    release: released.resolve,
  }
}

export function scriptedHarness(
  resume: AgentHarness['resume'],
  breach?: Breach,
  patienceMs = 60_000,
): AgentHarness<ScriptedBench> {
  return {
    open: async () => openScripted(resume, breach),
    chat: { text: 'say hello', answer: /^you said hello\.$/, pieces: 3 },
    each: (word) => ({ text: `say ${word}`, answer: new RegExp(`^you said ${word}\\.$`) }),
    long: { text: 'long', begun: ({ begun }) => begun, stopped: ({ stopped }) => stopped },
    failing: { text: 'fail', shown: 'down', hidden: 'host-7' },
    memory: { tell: 'remember swordfish', ask: 'recall', expects: 'swordfish' },
    question: { text: 'ask', asks: /^Which city\?$/, answer: 'Paris', then: /^Paris it is$/ },
    resume,
    slow: {
      text: 'slow',
      answer: /^one two three$/,
      begun: ({ begun }) => begun,
      release: ({ release }) => release(),
    },
    deadlineMs: 60,
    patienceMs,
  }
}
