/**
 * Runs a message as a turn of the agent's session. After a restart it loads the session, takes over what the agent had
 * said, and asks it to continue.
 */
import { A2AError, artifact, newId, status, type AgentFunction, type Artifact, type Json, type Turn } from '@parley/a2a'
import { abortable, withTimeout } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'
import type { KeyedMutex } from '../programs/semaphore.ts'
import { type PermissionQuestions, createPermissionPrompter } from './permission.ts'
import { type PromptRun, type ReportStream, runPrompt, failureMessage } from './run-prompt.ts'
import type { AcpEntry } from './entry.ts'
import type { AcpPeerSupervisor } from './peer-supervisor.ts'
import type { AcpSessions } from './sessions.ts'
import { missingText } from './session-replay.ts'
import type { SessionRouter } from './session-router.ts'
import { AcpAnswerText } from './acp-updates.ts'
import { textOfParts } from '../part-reader.ts'
import { createAcpPrompt } from './prompt.ts'

export interface AcpDeps extends Pick<AgentServices, 'name' | 'readPart'> {
  readonly entry: AcpEntry
  readonly supervisor: AcpPeerSupervisor
  readonly sessions: AcpSessions
  readonly router: SessionRouter
  /** Turns of one conversation run one at a time. */
  readonly sessionLocks: KeyedMutex
}

/** What a restarted turn needs to continue. */
interface AcpCheckpoint {
  readonly sessionId: string
  readonly artifactId: string
  /** Length of the artifact before the last prompt. */
  readonly from: number
  readonly questions: PermissionQuestions
}

/** The prompt after a restart. */
const continuePrompt =
  'You were interrupted in the middle of your last answer because the program was restarted. Continue where you stopped, and do not repeat what you have already said.'

export function createAcpAgent(deps: AcpDeps): { readonly run: AgentFunction; readonly reattach: AgentFunction } {
  const { entry, supervisor, sessions, router, sessionLocks, name, readPart } = deps

  async function* serialized(turn: Turn, work: (key: string) => ReportStream): ReportStream {
    const key = turn.sessionKey
    const release = await sessionLocks.acquire(key, turn.signal)
    try {
      yield* work(key)
    } finally {
      sessions.scheduleClose(key)
      release()
    }
  }

  /** Reports a timeout or a refusal of the agent as a sentence. */
  async function withStartTimeout<T>(turn: Turn, permissions: Promise<T>): Promise<T> {
    const late = (): A2AError => new A2AError('AGENT_UNAVAILABLE', 'The agent did not answer in time')
    try {
      return await abortable(turn.signal, withTimeout(permissions, entry.startTimeout, late))
    } catch (cause) {
      turn.signal.throwIfAborted()
      turn.log.error('a session of the agent could not be opened', { agent: name, taskId: turn.task.id, cause })
      throw cause instanceof A2AError ? cause : new A2AError('AGENT_UNAVAILABLE', failureMessage(cause), {}, { cause })
    }
  }

  /** Keeps the process while the turn uses it; a process that is stuck is replaced afterwards. */
  async function* runRetained(
    key: string,
    given: Omit<PromptRun, 'router' | 'entry' | 'onUnresponsive'>,
  ): ReportStream {
    const { peer } = given
    const release = supervisor.retain(peer)
    const onStuck = (): void => {
      sessions.forget(key)
      supervisor.retire(peer)
    }
    try {
      yield* runPrompt({ ...given, router, entry, onUnresponsive: onStuck })
    } finally {
      release()
    }
  }

  async function* runPromptTurn(turn: Turn, key: string): ReportStream {
    const peer = await supervisor.peer(turn.signal)
    const prompt = await createAcpPrompt(
      turn.message,
      peer.capabilities.promptCapabilities ?? {},
      readPart,
      turn.signal,
    )
    const { session, isLost } = await withStartTimeout(turn, sessions.open(key, peer))
    const artifactId = nextArtifactId(await turn.artifacts())
    const base = { sessionId: session.id, artifactId, from: 0 }
    const permissions = createPermissionPrompter({
      turn,
      policy: entry.permissions,
      save: (questions) => turn.checkpoint({ ...base, questions }),
    })
    // Stored before the prompt is sent, so that its effects can be found again.
    await turn.checkpoint({ ...base, questions: permissions.questions })
    if (isLost) yield status('The previous conversation could not be loaded: a new one was started', { session: 'new' })
    yield* runRetained(key, {
      turn,
      peer,
      sessionId: session.id,
      prompt,
      artifactId,
      permissions,
      answer: new AcpAnswerText(),
    })
  }

  async function* resumeTurn(turn: Turn, key: string, before: AcpCheckpoint): ReportStream {
    const { sessionId, artifactId, questions } = before
    let from = before.from
    const keep = (now: PermissionQuestions): Promise<void> =>
      turn.checkpoint({ sessionId, artifactId, from, questions: now })
    const permissions = createPermissionPrompter({ turn, policy: entry.permissions, before: questions, save: keep })
    await permissions.replayAnswers()
    const peer = await supervisor.peer(turn.signal)
    const { replay } = await withStartTimeout(turn, sessions.load(key, sessionId, peer))
    const logged = (await turn.artifacts()).find((one) => one.artifactId === artifactId)
    const loggedText = textOfParts(logged?.parts ?? [], '')
    // A message that the agent never received looks like one that it does not replay, unless it replays another one.
    const { lastUser } = replay
    const hasHeard = lastUser === undefined || lastUser.includes(turn.text.trim()) || lastUser.includes(continuePrompt)
    const missing = hasHeard && lastUser !== undefined ? missingText(loggedText.slice(from), replay) : ''
    if (missing !== '') yield artifact(artifactId, { text: missing, append: loggedText !== '' })
    from = loggedText.length + missing.length
    await keep(permissions.questions)
    const prompt = hasHeard
      ? [{ type: 'text' as const, text: continuePrompt }]
      : await createAcpPrompt(turn.message, peer.capabilities.promptCapabilities ?? {}, readPart, turn.signal)
    const answer = new AcpAnswerText(loggedText + missing)
    yield* runRetained(key, { turn, peer, sessionId, prompt, artifactId, permissions, answer })
  }

  return {
    run: (turn) => serialized(turn, (key) => runPromptTurn(turn, key)),
    reattach(turn) {
      const before = readAcpCheckpoint(turn.resumed?.checkpoint)
      return serialized(turn, (key) =>
        before === undefined ? runPromptTurn(turn, key) : resumeTurn(turn, key, before),
      )
    },
  }
}

/** `answer`, then `answer-2` in the next turn of the same task, as other agent kinds name their answers. */
function nextArtifactId(artifacts: readonly Artifact[]): string {
  const taken = new Set(artifacts.map(({ artifactId }) => artifactId))
  if (!taken.has('answer')) return 'answer'
  for (let count = 2; count <= taken.size + 1; count += 1) if (!taken.has(`answer-${count}`)) return `answer-${count}`
  return newId()
}

function readAcpCheckpoint(data: Json | undefined): AcpCheckpoint | undefined {
  const kept = (data ?? {}) as Partial<AcpCheckpoint>
  return kept.sessionId === undefined ? undefined : (kept as AcpCheckpoint)
}
