/** Keyboard shortcuts. Each view registers its own; the help behind `?` lists the same registrations. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { createKeySequence } from './key-sequence.ts'

export interface Shortcut {
  /** As in `KeyboardEvent.key`; `mod+k` with Ctrl or ⌘; `g t` for a sequence. */
  readonly key: string
  readonly label: string
  run(event: KeyboardEvent): void
  /** Also works while the user types in a field, and takes precedence. */
  readonly worksWhileTyping?: boolean
  /** Heading in the help. Default: this page. */
  readonly group?: string
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

const shortcutSets = signal<readonly (readonly Shortcut[])[]>([])
const matchSequence = createKeySequence(() => performance.now())

/** All active shortcuts, those of the innermost view first. */
export function activeShortcuts(): readonly Shortcut[] {
  return shortcutSets.value.flat()
}

export interface ShortcutGroup {
  readonly title: string
  readonly keys: readonly Shortcut[]
}

/** Grouped by heading, each key once: the first registration wins. */
export function shortcutGroups(): readonly ShortcutGroup[] {
  const groups = new Map<string, Shortcut[]>()
  const seen = new Set<string>()
  for (const action of activeShortcuts()) {
    if (seen.has(action.key)) continue
    seen.add(action.key)
    const title = action.group ?? 'On this page'
    groups.set(title, [...(groups.get(title) ?? []), action])
  }
  return [...groups].map(([title, keys]) => ({ title, keys }))
}

export function useShortcuts(actions: readonly Shortcut[]): void {
  const latest = useRef(actions)
  latest.current = actions
  // In the same frame as the row it belongs to: a visible row must respond to its key.
  useLayoutEffect(() => {
    const mine: readonly Shortcut[] = latest.current.map((action, index) => ({
      ...action,
      run: (event) => latest.current[index]?.run(event),
    }))
    shortcutSets.value = [mine, ...shortcutSets.peek()]
    return () => {
      shortcutSets.value = shortcutSets.peek().filter((one) => one !== mine)
    }
  }, [actions.map(({ key, label }) => `${key} ${label}`).join('\n')])
}

export function handleShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  if (/^(Shift|Control|Meta)$/.test(event.key)) return
  const isMod = event.metaKey || event.ctrlKey
  const isBusy = isTypedInto(event) || document.querySelector('dialog:modal') !== null
  const available = activeShortcuts().filter(
    ({ worksWhileTyping = false, key }) => worksWhileTyping || (isMod && key.startsWith('mod+')) || !isBusy,
  )
  const { name, isPrefix } = matchSequence(
    { key: event.key, isMod },
    available.map(({ key }) => key),
  )
  if (isPrefix) return
  const found = available.find(({ key }) => key === name)
  if (found === undefined) return
  event.preventDefault()
  found.run(event)
}

function isTypedInto({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false
  if (target instanceof HTMLElement && target.isContentEditable) return true
  // A checkbox or radio takes no text, but Space toggles it.
  const isTick = target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type)
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return !isTick || key === ' '
  // Buttons and links handle these keys themselves.
  return (key === 'Enter' || key === ' ') && target.closest('button, a, summary, [role="tab"]') !== null
}
