/** Search in the text: matches are marked, and the user steps through them. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { query, setQuery } from '../../app/router.ts'
import { Icon } from '../icon.tsx'
import { findAll } from './text-edits.ts'
import { showRange } from './editor-field.ts'
import type { FindMatches } from './editor-marks.tsx'

export interface FindState {
  readonly isOpen: boolean
  readonly searchText: string
  readonly found: FindMatches
  open(): void
  close(): void
  search(wanted: string): void
  move(by: number): void
  readonly input: RefObject<HTMLInputElement | null>
}

export function useFindInText(field: RefObject<HTMLTextAreaElement | null>, text: string): FindState {
  const input = useRef<HTMLInputElement>(null)
  const at = useSignal(0)
  const asked = query.value.get('find')
  const wanted = asked ?? ''
  const offsets = findAll(text, wanted)
  const here = offsets.length === 0 ? 0 : Math.min(at.value, offsets.length - 1)

  function show(index: number, all = offsets, length = wanted.length): void {
    at.value = index
    const from = all[index]
    if (from !== undefined && field.current !== null) showRange(field.current, from, from + length, false)
  }

  return {
    isOpen: asked !== null,
    searchText: wanted,
    found: { offsets, length: wanted.length, at: here },
    input,
    open() {
      const element = field.current
      const chosen = element?.value.slice(element.selectionStart, element.selectionEnd) ?? ''
      const begin = chosen === '' || chosen.includes('\n') ? wanted : chosen
      // Also when empty: the address says that the bar is open.
      if (asked === null) setQuery({ find: begin === '' ? ' ' : begin })
      input.current?.focus()
      input.current?.select()
    },
    close() {
      setQuery({ find: undefined })
      const from = offsets[here]
      if (field.current === null) return
      if (from === undefined) field.current.focus()
      else showRange(field.current, from, from + wanted.length, true)
    },
    search(next) {
      setQuery({ find: next === '' ? ' ' : next })
      show(0, findAll(text, next), next.length)
    },
    move(by) {
      if (offsets.length > 0) show((here + by + offsets.length) % offsets.length)
    },
  }
}

export function FindBar({ find }: { readonly find: FindState }) {
  const { searchText, found, input } = find
  const shown = searchText === ' ' ? '' : searchText
  useEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [])

  function press(event: KeyboardEvent): void {
    if (event.key === 'Enter') find.move(event.shiftKey ? -1 : 1)
    else if (event.key === 'Escape') find.close()
    else return
    event.preventDefault()
  }

  const all = found.offsets.length
  const count = shown === '' ? '' : all === 0 ? 'No matches' : `${found.at + 1} of ${all}`
  return (
    <search class="editor-find">
      <input
        ref={input}
        type="search"
        aria-label="Find in the text"
        placeholder="Find"
        value={shown}
        onInput={(event) => find.search(event.currentTarget.value)}
        onKeyDown={press}
      />
      <span class="faint editor-count" role="status">
        {count}
      </span>
      <button type="button" class="plain icon" aria-label="Previous match" onClick={() => find.move(-1)}>
        <Icon name="back" />
      </button>
      <button type="button" class="plain icon" aria-label="Next match" onClick={() => find.move(1)}>
        <Icon name="next" />
      </button>
      <button type="button" class="plain icon" aria-label="Close search" onClick={() => find.close()}>
        <Icon name="close" />
      </button>
    </search>
  )
}
