/** Ctrl-K: go to anything, an agent, a task by its id, a page, or do something that the page offers. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call } from '../api/call.ts'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { useKeys } from './keys.ts'
import { isPaletteOpen, pageActions } from './palette-state.ts'
import type { PaletteAction } from './palette-state.ts'
import { go, pageNames } from './router.ts'
import { chooseTheme, isDark } from './theme.ts'
import './palette.css'

interface Entry extends PaletteAction {
  readonly icon: IconName
  readonly about: string
}

const askMs = 120

export function Palette() {
  const frame = useRef<HTMLDialogElement>(null)
  const isOpen = isPaletteOpen.value
  useKeys([
    {
      key: 'mod+k',
      does: 'Search or go to anything',
      run: () => (isPaletteOpen.value = !isPaletteOpen.value),
      always: true,
    },
  ])
  useEffect(() => {
    if (isOpen) frame.current?.showModal()
    else frame.current?.close()
  }, [isOpen])
  return (
    <dialog
      ref={frame}
      class="palette"
      aria-label="Search"
      onClose={() => (isPaletteOpen.value = false)}
      onClick={(event) => event.target === frame.current && frame.current?.close()}
    >
      {isOpen && <Search />}
    </dialog>
  )
}

function Search() {
  const text = useSignal('')
  const found = useSignal<readonly Entry[]>([])
  const chosen = useSignal(0)
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void lookUp(text.value, stop.signal).then(
        (entries) => (found.value = entries),
        () => {},
      )
    }, askMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text.value])
  const entries = [...ownEntries(text.value), ...(text.value === '' ? [] : found.value)]
  const at = Math.min(chosen.value, Math.max(0, entries.length - 1))

  function run(entry: Entry | undefined): void {
    if (entry === undefined) return
    isPaletteOpen.value = false
    entry.run()
  }

  function press(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') chosen.value = Math.min(at + 1, entries.length - 1)
    else if (event.key === 'ArrowUp') chosen.value = Math.max(at - 1, 0)
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
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        aria-label="Search"
        placeholder="Agent, task id, page or action"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={press}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, index) => (
          <li
            key={`${entry.about} ${entry.title}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => run(entry)}
            onPointerMove={() => (chosen.value = index)}
          >
            <Icon name={entry.icon} />
            <span class="grow cut">{entry.title}</span>
            <span class="faint">{entry.about}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="palette-none faint">Nothing of that name.</p>}
    </>
  )
}

function ownEntries(text: string): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/)
  const pages = pageNames.map((name): Entry => ({
    icon: name === 'welcome' ? 'play' : name,
    title: name === 'welcome' ? 'First steps' : (name[0]?.toUpperCase() ?? '') + name.slice(1),
    about: 'page',
    run: () => go(`/${name}`),
  }))
  const offered = pageActions.value.flat().map((action): Entry => ({ ...action, icon: 'play', about: 'action' }))
  const theme: Entry = {
    icon: isDark.value ? 'sun' : 'moon',
    title: isDark.value ? 'Light colours' : 'Dark colours',
    about: 'action',
    run: () => chooseTheme(isDark.value ? 'light' : 'dark'),
  }
  return [...pages, ...offered, theme].filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}

async function lookUp(text: string, signal: AbortSignal): Promise<readonly Entry[]> {
  if (text.trim() === '') return []
  const { agents, tasks, keys } = await call('search', { query: { q: text.trim() }, signal })
  return [
    ...agents.map(({ name }): Entry => ({
      icon: 'agents',
      title: name,
      about: 'agent',
      run: () => go(`/agents/${encodeURIComponent(name)}`),
    })),
    ...tasks.map(({ id, agent, title }): Entry => ({
      icon: 'tasks',
      title: title ?? id,
      about: `task of ${agent}`,
      run: () => go(`/tasks/${id}`),
    })),
    ...keys.map(({ id, name }): Entry => ({
      icon: 'key',
      title: name,
      about: 'key',
      run: () => go(`/settings/keys?key=${id}`),
    })),
  ]
}
