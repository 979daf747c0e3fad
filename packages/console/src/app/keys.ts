/** What the keyboard does. Whoever is on the page says what its keys do, and the list behind `?` is made of the same. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { createPresses } from './press.ts'

export interface KeyAction {
  /** As `KeyboardEvent.key` has it; `mod+k` with Ctrl or ⌘; `g t` for two after each other. */
  readonly key: string
  readonly does: string
  run(event: KeyboardEvent): void
  /** Also while something is typed, and in front of everything. */
  readonly always?: boolean
  /** Under which heading it is listed. Default: those of this page. */
  readonly group?: string
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

const sets = signal<readonly (readonly KeyAction[])[]>([])
const presses = createPresses(() => performance.now())

/** All that work now, those of the innermost part first. */
export function keysNow(): readonly KeyAction[] {
  return sets.value.flat()
}

export interface KeyGroup {
  readonly title: string
  readonly keys: readonly KeyAction[]
}

/** The same under headings, each key once: what it does first is what it does. */
export function keyGroups(): readonly KeyGroup[] {
  const groups = new Map<string, KeyAction[]>()
  const seen = new Set<string>()
  for (const action of keysNow()) {
    if (seen.has(action.key)) continue
    seen.add(action.key)
    const title = action.group ?? 'On this page'
    groups.set(title, [...(groups.get(title) ?? []), action])
  }
  return [...groups].map(([title, keys]) => ({ title, keys }))
}

export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions)
  latest.current = actions
  // With what is drawn, not after it was painted: whoever sees a row may press its key.
  useLayoutEffect(() => {
    const mine: readonly KeyAction[] = latest.current.map((action, index) => ({
      ...action,
      run: (event) => latest.current[index]?.run(event),
    }))
    sets.value = [mine, ...sets.peek()]
    return () => {
      sets.value = sets.peek().filter((one) => one !== mine)
    }
  }, [actions.map(({ key, does }) => `${key} ${does}`).join('\n')])
}

export function pressKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  if (/^(Shift|Control|Meta)$/.test(event.key)) return
  const isMod = event.metaKey || event.ctrlKey
  const isBusy = isTyped(event) || document.querySelector('dialog:modal') !== null
  const able = keysNow().filter(({ always = false, key }) => always || (isMod && key.startsWith('mod+')) || !isBusy)
  const { name, isFirst } = presses(
    { key: event.key, isMod },
    able.map(({ key }) => key),
  )
  if (isFirst) return
  const found = able.find(({ key }) => key === name)
  if (found === undefined) return
  event.preventDefault()
  found.run(event)
}

function isTyped({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false
  if (target instanceof HTMLElement && target.isContentEditable) return true
  // Nobody types into a box to tick, but Space ticks it.
  const isTick = target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type)
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return !isTick || key === ' '
  // A button takes these for itself.
  return (key === 'Enter' || key === ' ') && target.closest('button, a, summary, [role="tab"]') !== null
}
