/** The pages, with how much there is to see on each; at the foot of the screen on a phone, the less wanted behind "More". */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useResource } from '../api/resource.ts'
import { call } from '../api/call.ts'
import type { Health } from '../api/admin.ts'
import { Icon } from '../parts/icon.tsx'
import { count } from '../parts/words.ts'
import { useKeys } from './keys.ts'
import { firstSteps, pages } from './pages.ts'
import type { PageEntry } from './pages.ts'
import { go, path, place } from './router.ts'
import './rail.css'

interface Number {
  readonly value: number
  /** What is wrong, if something is. */
  readonly trouble?: string | undefined
}

export function Rail() {
  const health = useResource(
    'rail',
    (signal) => call('getHealth', { signal }),
    ({ type }) => type === 'task' || type === 'tasks' || type === 'agent' || type === 'push' || type === 'config',
  )
  const frame = useRef<HTMLElement>(null)
  const isMore = useSignal(false)
  useEffect(() => {
    isMore.value = false
  }, [path.value])
  useEffect(() => {
    if (!isMore.value) return
    const close = ({ target }: Event): void => {
      if (frame.current?.contains(target as Node) !== true) isMore.value = false
    }
    addEventListener('pointerdown', close)
    return () => removeEventListener('pointerdown', close)
  }, [isMore.value])
  useKeys(
    [...pages, firstSteps].map(({ page, title, key }) => ({
      key: `g ${key}`,
      does: title,
      group: 'Go to',
      run: () => go(`/${page}`),
    })),
  )

  const numbers = numbersOf(health.value.value)
  const less = pages.filter(({ isLess = false }) => isLess)
  const isLessOpen = less.some(({ page }) => page === place.value.page)
  const isLessTrouble = less.some(({ page }) => numbers[page]?.trouble !== undefined)
  return (
    <nav
      ref={frame}
      class={isMore.value ? 'rail more' : 'rail'}
      aria-label="Pages"
      onKeyDown={(event) => {
        if (event.key === 'Escape') isMore.value = false
      }}
    >
      <a class="rail-name" href="/">
        <img src="/console/icon.svg" alt="" width="20" height="20" />
        Parley
      </a>
      <ul class="rail-main">
        {pages
          .filter(({ isLess = false }) => !isLess)
          .map((entry) => (
            <Entry key={entry.page} entry={entry} number={numbers[entry.page]} />
          ))}
      </ul>
      <ul class="rail-less" id="rail-less">
        {less.map((entry) => (
          <Entry key={entry.page} entry={entry} number={numbers[entry.page]} />
        ))}
      </ul>
      <button
        type="button"
        class={isLessOpen ? 'plain rail-more here' : 'plain rail-more'}
        aria-expanded={isMore.value}
        aria-controls="rail-less"
        onClick={() => (isMore.value = !isMore.value)}
      >
        <Icon name="more" />
        <span class="rail-title">More</span>
        {isLessTrouble && <span class="rail-dot" role="img" aria-label="something is wrong" />}
      </button>
    </nav>
  )
}

function Entry({ entry, number }: { readonly entry: PageEntry; readonly number: Number | undefined }) {
  const { page, title, icon, key } = entry
  return (
    <li>
      <a href={`/${page}`} title={`g ${key}`} aria-current={place.value.page === page ? 'page' : undefined}>
        <Icon name={icon} />
        <span class="rail-title">{title}</span>
        {number?.trouble !== undefined && (
          <span class="rail-dot" role="img" title={number.trouble} aria-label={number.trouble} />
        )}
        {number !== undefined && number.value > 0 && <span class="rail-number">{count(number.value)}</span>}
      </a>
    </li>
  )
}

function numbersOf(health: Health | undefined): Partial<Record<string, Number>> {
  if (health === undefined) return {}
  const { agents, tasks, push } = health
  const down = agents.down.length
  return {
    agents: { value: agents.all, trouble: down === 0 ? undefined : `${down} not well` },
    tasks: { value: Object.values(tasks).reduce((sum, one) => sum + one, 0) },
    push: { value: push.dead, trouble: push.dead === 0 ? undefined : `${push.dead} given up` },
  }
}
