/** What the keyboard does. Whoever is on the page says what its keys do, and the list behind `?` is made of the same. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

export interface KeyAction {
  /** As `KeyboardEvent.key` has it; `mod+k` with Ctrl or ⌘. */
  readonly key: string
  readonly does: string
  run(event: KeyboardEvent): void
  /** Also while something is typed. */
  readonly always?: boolean
}

const sets = signal<readonly (readonly KeyAction[])[]>([])

/** All that work now, those of the innermost part first. */
export function keysNow(): readonly KeyAction[] {
  return sets.value.flat()
}

export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const mine: readonly KeyAction[] = latest.current.map(({ key, does, always = false }, index) => ({
      key,
      does,
      always,
      run: (event) => latest.current[index]?.run(event),
    }))
    sets.value = [mine, ...sets.peek()]
    return () => {
      sets.value = sets.peek().filter((one) => one !== mine)
    }
  }, [actions.map(({ key }) => key).join(' ')])
}

export function pressKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const isMod = event.metaKey || event.ctrlKey
  if (event.altKey) return
  const name = isMod ? `mod+${event.key.toLowerCase()}` : event.key
  const found = keysNow().find(({ key, always = false }) => key === name && (always || isMod || !isTyped(event)))
  if (found === undefined) return
  event.preventDefault()
  found.run(event)
}

function isTyped({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true
  // A button takes these for itself.
  return (key === 'Enter' || key === ' ') && target.closest('button, a, summary, [role="tab"]') !== null
}
