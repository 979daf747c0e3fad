/** Sends messages to a task that is being worked on, beside its stream. What happens to them is the agent's `whenBusy`. */
import { newId, type Message, type Part } from '@parley/a2a'
import { withPendingMessage, type Transcript } from '../../conversation/transcript.ts'
import type { AgentConnections, ProtocolChoice } from './agent-connections.ts'
import type { ConversationTasks } from './conversation-tasks.ts'

export interface SteerOptions extends ProtocolChoice {
  /** Shown beside the message, once the hub has it. */
  readonly note: string
}

export interface SteeringDeps {
  readonly agent: string
  readonly connections: AgentConnections
  readonly tasks: ConversationTasks
  readonly signal: AbortSignal
  onFailure(reason: unknown, again: () => void): void
}

export function createSteering({ agent, connections, tasks, signal, onFailure }: SteeringDeps) {
  async function deliver(key: string, message: Message, how: SteerOptions): Promise<void> {
    tasks.update(key, (talk) => withPendingMessage(talk, message, Date.now()))
    try {
      const remote = await connections.connect(agent, how)
      // The stream of the task brings the answer.
      await remote.send(message, { returnImmediately: true, signal })
      tasks.update(key, (talk) => withDeliveredMessage(talk, message.messageId, how.note))
    } catch (reason) {
      // The same id is the same message, so a retry is safe.
      if (!signal.aborted) onFailure(reason, () => void deliver(key, message, how))
    }
  }

  return (taskId: string, parts: readonly Part[], how: SteerOptions): void => {
    const slot = tasks.find(taskId)
    if (slot === undefined) return
    const { contextId } = slot.transcript
    const message: Message = {
      messageId: newId(),
      role: 'ROLE_USER',
      parts,
      taskId,
      ...(contextId === undefined ? {} : { contextId }),
    }
    void deliver(slot.key, message, how)
  }
}

function withDeliveredMessage(talk: Transcript, messageId: string, note: string): Transcript {
  const items = talk.items.map((item) =>
    item.kind === 'said' && item.message.messageId === messageId ? { ...item, isPending: false, note } : item,
  )
  return { ...talk, items }
}
