/**
 * A message as a turn of the agent's session; and one that a restart interrupted: its session is loaded, what it had said is
 * taken over, and it is told to go on.
 */
import type { AgentFunction, Artifact, Json, Turn } from '@parley/a2a'
import { A2AError, artifact, newId, status } from '@parley/a2a'
import type { KindParts } from '../kind.ts'
import type { Queues } from '../programs/queues.ts'
import { orAborted, within } from '../programs/within.ts'
import { sessionKeyOf } from '../session-key.ts'
import type { Questions } from './asking.ts'
import { createAsking } from './asking.ts'
import type { Conversation, Reports } from './converse.ts'
import { converse, sentenceOf } from './converse.ts'
import type { AcpEntry } from './entry.ts'
import type { Keeper } from './keeper.ts'
import { promptOf } from './prompt.ts'
import { missingOf } from './replay.ts'
import type { Sessions } from './sessions.ts'
import type { Switchboard } from './switchboard.ts'
import { Answer } from './told.ts'

export interface AcpParts extends Pick<KindParts, 'name' | 'bytes'> {
  readonly entry: AcpEntry
  readonly keeper: Keeper
  readonly sessions: Sessions
  readonly board: Switchboard
  /** Turns of one conversation wait for each other. */
  readonly queues: Queues
}

/** What is needed to go on after a restart. */
interface Checkpoint {
  readonly sessionId: string
  readonly artifactId: string
  /** How much of the artifact was there before the last prompt. */
  readonly from: number
  readonly questions: Questions
}

/** What the agent is told after a restart. */
const goOn =
  'You were interrupted in the middle of your last answer because the program was restarted. Go on from where you stopped, and do not say again what you have already said.'

export function runAcp(parts: AcpParts): { readonly run: AgentFunction; readonly reattach: AgentFunction } {
  const { entry, keeper, sessions, board, queues, name, bytes } = parts

  async function* inQueue(turn: Turn, work: (key: string) => Reports): Reports {
    const key = sessionKeyOf(turn, name)
    const release = await queues.take(key, turn.signal)
    try {
      yield* work(key)
    } finally {
      sessions.rest(key)
      release()
    }
  }

  /** What the agent does not answer in time, or refuses, is told in a sentence. */
  async function orFail<T>(turn: Turn, asking: Promise<T>): Promise<T> {
    const late = (): A2AError => new A2AError('AGENT_UNAVAILABLE', 'The agent did not answer in time')
    try {
      return await orAborted(within(asking, entry.startTimeout, late), turn.signal)
    } catch (cause) {
      turn.signal.throwIfAborted()
      turn.log.error('a session of the agent could not be had', { agent: name, taskId: turn.task.id, cause })
      throw cause instanceof A2AError ? cause : new A2AError('AGENT_UNAVAILABLE', sentenceOf(cause), {}, { cause })
    }
  }

  /** While it is worked with, the program stays; one that got stuck is then replaced. */
  async function* held(key: string, given: Omit<Conversation, 'board' | 'entry' | 'onStuck'>): Reports {
    const { peer } = given
    const release = keeper.hold(peer)
    const onStuck = (): void => {
      sessions.drop(key)
      keeper.retire(peer)
    }
    try {
      yield* converse({ ...given, board, entry, onStuck })
    } finally {
      release()
    }
  }

  async function* begin(turn: Turn, key: string): Reports {
    const peer = await keeper.peer(turn.signal)
    const prompt = await promptOf(turn.message, peer.capabilities.promptCapabilities ?? {}, bytes, turn.signal)
    const { session, isLost } = await orFail(turn, sessions.open(key, peer))
    const artifactId = nextId(await turn.artifacts())
    const base = { sessionId: session.id, artifactId, from: 0 }
    const asking = createAsking({
      turn,
      policy: entry.permissions,
      keep: (questions) => turn.checkpoint({ ...base, questions }),
    })
    // Before the agent hears of it: what it does then can be found again.
    await turn.checkpoint({ ...base, questions: asking.questions })
    if (isLost) yield status('The conversation before this could not be loaded: it begins anew', { session: 'new' })
    yield* held(key, { turn, peer, sessionId: session.id, prompt, artifactId, asking, answer: new Answer() })
  }

  async function* continued(turn: Turn, key: string, before: Checkpoint): Reports {
    const { sessionId, artifactId, questions } = before
    let from = before.from
    const keep = (now: Questions): Promise<void> => turn.checkpoint({ sessionId, artifactId, from, questions: now })
    const asking = createAsking({ turn, policy: entry.permissions, before: questions, keep })
    await asking.recall()
    const peer = await keeper.peer(turn.signal)
    const { replay } = await orFail(turn, sessions.load(key, sessionId, peer))
    const said = textOf((await turn.artifacts()).find((one) => one.artifactId === artifactId))
    // Nobody can tell a message that it never heard from one that it does not repeat, unless it repeats another.
    const { lastUser } = replay
    const hasHeard = lastUser === undefined || lastUser.includes(turn.text.trim()) || lastUser.includes(goOn)
    const missing = hasHeard && lastUser !== undefined ? missingOf(said.slice(from), replay) : ''
    if (missing !== '') yield artifact(artifactId, { text: missing, append: said !== '' })
    from = said.length + missing.length
    await keep(asking.questions)
    const prompt = hasHeard
      ? [{ type: 'text' as const, text: goOn }]
      : await promptOf(turn.message, peer.capabilities.promptCapabilities ?? {}, bytes, turn.signal)
    const answer = new Answer(said + missing)
    yield* held(key, { turn, peer, sessionId, prompt, artifactId, asking, answer })
  }

  return {
    run: (turn) => inQueue(turn, (key) => begin(turn, key)),
    reattach(turn) {
      const before = checkpointIn(turn.resumed?.checkpoint)
      return inQueue(turn, (key) => (before === undefined ? begin(turn, key) : continued(turn, key, before)))
    },
  }
}

/** `answer`, in the next turn of the same task `answer-2`, as the answers of other agents are called. */
function nextId(artifacts: readonly Artifact[]): string {
  const taken = new Set(artifacts.map(({ artifactId }) => artifactId))
  if (!taken.has('answer')) return 'answer'
  for (let count = 2; count <= taken.size + 1; count += 1) if (!taken.has(`answer-${count}`)) return `answer-${count}`
  return newId()
}

function textOf(one: Artifact | undefined): string {
  return (one?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
}

function checkpointIn(data: Json | undefined): Checkpoint | undefined {
  const kept = (data ?? {}) as Partial<Checkpoint>
  return kept.sessionId === undefined ? undefined : (kept as Checkpoint)
}
