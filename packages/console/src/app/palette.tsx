/** The command palette (Ctrl-K): opens an agent, a task by id or a page, or runs an action of the current page. */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../components/icon.tsx'
import { useDialog } from './use-dialog.ts'
import { useShortcuts } from './shortcuts.ts'
import { searchHub, recordRecentPage, localEntries, searchEntries, type PaletteEntry } from './palette-entries.ts'
import { isPaletteOpen } from './palette-state.ts'
import { pageRoute } from './router.ts'
import './palette.css'
import { pluralize } from '../components/format.ts'

const searchDelayMs = 120

export function Palette() {
  const dialog = useDialog(isPaletteOpen)
  useShortcuts([
    {
      key: 'mod+k',
      label: 'Search or go to anything',
      group: 'Everywhere',
      run: () => (isPaletteOpen.value = !isPaletteOpen.value),
      worksWhileTyping: true,
    },
  ])
  const last = useRef(pageRoute.peek())
  // Runs at once, while the document still has the title of the page the user leaves.
  useSignalEffect(() => {
    const now = pageRoute.value
    recordRecentPage(last.current, document.title)
    last.current = now
  })
  return (
    <dialog {...dialog} class="palette" aria-label="Search">
      {isPaletteOpen.value && <PaletteSearch />}
    </dialog>
  )
}

interface SearchResult {
  readonly text: string
  readonly entries: readonly PaletteEntry[]
}

function PaletteSearch() {
  const text = useSignal('')
  const found = useSignal<SearchResult>({ text: '', entries: [] })
  const chosen = useSignal(0)
  /** Enter was pressed before there was a result. */
  const isEnterPending = useSignal(false)
  const list = useRef<HTMLDivElement>(null)
  const searchText = text.value.trim()
  useEffect(() => {
    if (searchText === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void searchHub(searchText, stop.signal).then(
        (entries) => (found.value = { text: searchText, entries }),
        () => (found.value = { text: searchText, entries: [] }),
      )
    }, searchDelayMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [searchText])

  const isSearching = searchText !== '' && found.value.text !== searchText
  const entries =
    searchText === ''
      ? localEntries('')
      : [...localEntries(searchText), ...found.value.entries, ...(isSearching ? [] : searchEntries(searchText))]
  const at = Math.min(chosen.value, Math.max(0, entries.length - 1))
  useEffect(() => {
    list.current?.querySelector(`#palette-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at, entries.length])

  function run(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return
    isPaletteOpen.value = false
    entry.run()
  }

  useEffect(() => {
    if (isEnterPending.value && !isSearching) run(entries[0])
  }, [isEnterPending.value, isSearching])

  function press(event: KeyboardEvent): void {
    const last = entries.length - 1
    const isDown = event.key === 'ArrowDown' || (event.ctrlKey && event.key === 'n')
    const isUp = event.key === 'ArrowUp' || (event.ctrlKey && event.key === 'p')
    if (isDown) chosen.value = at === last ? 0 : at + 1
    else if (isUp) chosen.value = at === 0 ? last : at - 1
    else if (event.key === 'Enter' && isSearching && localEntries(searchText).length === 0) isEnterPending.value = true
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
        placeholder="Agent, task ID, page or action"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = 0
          isEnterPending.value = false
        }}
        onKeyDown={press}
      />
      <div ref={list} id="palette-list" class="palette-list" role="listbox" aria-label="Results">
        <EntryGroups entries={entries} at={at} run={run} point={(index) => (chosen.value = index)} />
      </div>
      <p class="unseen" role="status">
        {isSearching ? '' : pluralize(entries.length, 'result')}
      </p>
      <p class="palette-foot faint" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
        <span class="palette-looking">{isSearching ? 'Searching…' : ''}</span>
      </p>
    </>
  )
}

interface EntryGroupsProps {
  readonly entries: readonly PaletteEntry[]
  readonly at: number
  readonly run: (entry: PaletteEntry) => void
  readonly point: (index: number) => void
}

function EntryGroups({ entries, at, run, point }: EntryGroupsProps) {
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
                class="row palette-entry"
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
