/** The tasks of the open conversation, in order. A task that was just sent has an entry before it has an id. */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { emptyTranscript } from '../../conversation/transcript.ts'
import type { Transcript } from '../../conversation/transcript.ts'
import type { LoadedConversationTask } from './load-conversation.ts'

export interface ConversationTask {
  readonly key: string
  readonly transcript: Transcript
  /** The caller of the task, if it is not ours. */
  readonly otherCaller: string | undefined
}

export interface ConversationTasks {
  readonly list: ReadonlySignal<readonly ConversationTask[]>
  /** The entry of this task. */
  find(taskId: string | undefined): ConversationTask | undefined
  get(key: string): ConversationTask | undefined
  addPending(): ConversationTask
  update(key: string, change: (transcript: Transcript) => Transcript): Transcript
  /** Replaces all entries. */
  replace(loaded: readonly LoadedConversationTask[]): void
  refresh(loaded: LoadedConversationTask): void
}

export function createConversationTasks(currentCaller: () => string): ConversationTasks {
  const shown = signal<readonly ConversationTask[]>([])
  let count = 0
  const newKey = (): string => `slot-${(count += 1)}`
  const slotOf = ({ transcript, caller }: LoadedConversationTask, key: string): ConversationTask => ({
    key,
    transcript,
    otherCaller: caller === currentCaller() ? undefined : caller,
  })
  const find: ConversationTasks['find'] = (taskId) =>
    taskId === undefined ? undefined : shown.peek().find(({ transcript }) => transcript.taskId === taskId)

  return {
    list: shown,
    find,
    get: (key) => shown.peek().find((slot) => slot.key === key),
    addPending() {
      const slot = { key: newKey(), transcript: emptyTranscript, otherCaller: undefined }
      shown.value = [...shown.peek(), slot]
      return slot
    },
    update(key, change) {
      let transcript = emptyTranscript
      shown.value = shown.peek().map((slot) => {
        if (slot.key !== key) return slot
        transcript = change(slot.transcript)
        return { ...slot, transcript }
      })
      return transcript
    },
    replace(loaded) {
      shown.value = loaded.map((one) => slotOf(one, find(one.transcript.taskId)?.key ?? newKey()))
    },
    refresh(loaded) {
      const known = find(loaded.transcript.taskId)
      if (known === undefined) shown.value = [...shown.peek(), slotOf(loaded, newKey())]
      else shown.value = shown.peek().map((slot) => (slot === known ? slotOf(loaded, slot.key) : slot))
    },
  }
}
