/** The tasks of the conversation that is open, each in its place: one that was just sent has a place before it has a name. */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { emptyTalk } from '../../conversation/talk.ts'
import type { Talk } from '../../conversation/talk.ts'
import type { Loaded } from './talks.ts'

export interface Slot {
  readonly key: string
  readonly talk: Talk
  /** Whose task it is, where it is not ours. */
  readonly stranger: string | undefined
}

export interface Slots {
  readonly shown: ReadonlySignal<readonly Slot[]>
  /** Of this task. */
  find(taskId: string | undefined): Slot | undefined
  get(key: string): Slot | undefined
  begin(): Slot
  change(key: string, change: (talk: Talk) => Talk): Talk
  /** In place of those that are there; `isMine` tells whose they are. */
  replace(loaded: readonly Loaded[]): void
  refresh(loaded: Loaded): void
}

export function createSlots(me: () => string): Slots {
  const shown = signal<readonly Slot[]>([])
  let count = 0
  const newKey = (): string => `slot-${(count += 1)}`
  const slotOf = ({ talk, caller }: Loaded, key: string): Slot => ({
    key,
    talk,
    stranger: caller === me() ? undefined : caller,
  })
  const find: Slots['find'] = (taskId) =>
    taskId === undefined ? undefined : shown.peek().find(({ talk }) => talk.taskId === taskId)

  return {
    shown,
    find,
    get: (key) => shown.peek().find((slot) => slot.key === key),
    begin() {
      const slot = { key: newKey(), talk: emptyTalk, stranger: undefined }
      shown.value = [...shown.peek(), slot]
      return slot
    },
    change(key, change) {
      let talk = emptyTalk
      shown.value = shown.peek().map((slot) => {
        if (slot.key !== key) return slot
        talk = change(slot.talk)
        return { ...slot, talk }
      })
      return talk
    },
    replace(loaded) {
      shown.value = loaded.map((one) => slotOf(one, find(one.talk.taskId)?.key ?? newKey()))
    },
    refresh(loaded) {
      const known = find(loaded.talk.taskId)
      if (known === undefined) shown.value = [...shown.peek(), slotOf(loaded, newKey())]
      else shown.value = shown.peek().map((slot) => (slot === known ? slotOf(loaded, slot.key) : slot))
    },
  }
}
