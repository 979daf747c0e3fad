/** Ctrl-K: go to anything, an agent, a task by its id, a page, or do something that the page offers. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { many } from '../parts/words.ts'
import { useDialog } from './dialog.ts'
import { useKeys } from './keys.ts'
import { lookUp, noteWhereWeWere, ownEntries, searchEntries } from './palette-entries.ts'
import type { Entry } from './palette-entries.ts'
import { isPaletteOpen } from './palette-state.ts'
import { place } from './router.ts'
import './palette.css'

const askMs = 120

export function Palette() {
  const dialog = useDialog(isPaletteOpen)
  useKeys([
    {
      key: 'mod+k',
      does: 'Search or go to anything',
      group: 'Everywhere',
      run: () => (isPaletteOpen.value = !isPaletteOpen.value),
      always: true,
    },
  ])
  const last = useRef(place.peek())
  // At once, while the title is still that of the page that is left.
  useSignalEffect(() => {
    const now = place.value
    noteWhereWeWere(last.current, document.title)
    last.current = now
  })
  return (
    <dialog {...dialog} class="palette" aria-label="Search">
      {isPaletteOpen.value && <Search />}
    </dialog>
  )
}

interface Found {
  readonly text: string
  readonly entries: readonly Entry[]
}

function Search() {
  const text = useSignal('')
  const found = useSignal<Found>({ text: '', entries: [] })
  const chosen = useSignal(0)
  /** Enter was pressed before there was anything to go to. */
  const isEager = useSignal(false)
  const list = useRef<HTMLDivElement>(null)
  const wanted = text.value.trim()
  useEffect(() => {
    if (wanted === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void lookUp(wanted, stop.signal).then(
        (entries) => (found.value = { text: wanted, entries }),
        () => (found.value = { text: wanted, entries: [] }),
      )
    }, askMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [wanted])

  const isLooking = wanted !== '' && found.value.text !== wanted
  const entries =
    wanted === ''
      ? ownEntries('')
      : [...ownEntries(wanted), ...found.value.entries, ...(isLooking ? [] : searchEntries(wanted))]
  const at = Math.min(chosen.value, Math.max(0, entries.length - 1))
  useEffect(() => {
    list.current?.querySelector(`#palette-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, entries.length])

  function run(entry: Entry | undefined): void {
    if (entry === undefined) return
    isPaletteOpen.value = false
    entry.run()
  }

  useEffect(() => {
    if (isEager.value && !isLooking) run(entries[0])
  }, [isEager.value, isLooking])

  function press(event: KeyboardEvent): void {
    const last = entries.length - 1
    const isDown = event.key === 'ArrowDown' || (event.ctrlKey && event.key === 'n')
    const isUp = event.key === 'ArrowUp' || (event.ctrlKey && event.key === 'p')
    if (isDown) chosen.value = at === last ? 0 : at + 1
    else if (isUp) chosen.value = at === 0 ? last : at - 1
    else if (event.key === 'Enter' && isLooking && ownEntries(wanted).length === 0) isEager.value = true
    else if (event.key === 'Enter') run(entries[at])
    else return
    event.preventDefault()
  }

  return (
    <>
      <input
        type="text"
        autofocus
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        aria-label="Search"
        placeholder="Agent, task id, page or action"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = 0
          isEager.value = false
        }}
        onKeyDown={press}
      />
      <div ref={list} id="palette-list" class="palette-list" role="listbox" aria-label="Found">
        <Groups entries={entries} at={at} run={run} point={(index) => (chosen.value = index)} />
      </div>
      <p class="unseen" role="status">
        {isLooking ? '' : many(entries.length, 'entry', 'entries')}
      </p>
      <p class="palette-foot faint" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> go
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
        <span class="palette-looking">{isLooking ? 'looking …' : ''}</span>
      </p>
    </>
  )
}

interface GroupsProps {
  readonly entries: readonly Entry[]
  readonly at: number
  readonly run: (entry: Entry) => void
  readonly point: (index: number) => void
}

function Groups({ entries, at, run, point }: GroupsProps) {
  const titles = [...new Set(entries.map(({ group }) => group))]
  return (
    <>
      {titles.map((title) => (
        <div key={title} role="group" aria-label={title} class="palette-group">
          <p class="palette-title" aria-hidden="true">
            {title}
          </p>
          {entries.map((entry, index) =>
            entry.group !== title ? null : (
              <div
                key={`${index} ${entry.title}`}
                id={`palette-${index}`}
                role="option"
                aria-selected={index === at}
                class="palette-entry"
                onClick={() => run(entry)}
                onPointerMove={() => point(index)}
              >
                <Icon name={entry.icon} />
                <span class="grow cut">{entry.title}</span>
                <span class="faint">{entry.about}</span>
                {entry.keys?.split(' ').map((key) => (
                  <kbd key={key} aria-hidden="true">
                    {key}
                  </kbd>
                ))}
              </div>
            ),
          )}
        </div>
      ))}
    </>
  )
}
