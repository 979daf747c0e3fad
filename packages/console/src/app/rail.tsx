/** The list of pages with their counts. On a phone it is at the foot of the screen, with the less used pages behind "More". */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useHealth } from '../api/agents.ts'
import type { Health } from '../api/admin.ts'
import { Icon } from '../components/icon.tsx'
import { formatCount } from '../components/format.ts'
import { useShortcuts } from './shortcuts.ts'
import { welcomePage, pages, type PageEntry } from './page-list.ts'
import { navigate, path, pageRoute } from './router.ts'
import './rail.css'

interface PageCount {
  readonly value: number
  /** What is wrong, if anything. */
  readonly warning?: string | undefined
}

export function Rail() {
  const health = useHealth(
    ({ type }) => type === 'task' || type === 'tasks' || type === 'agent' || type === 'push' || type === 'config',
  )
  const frame = useRef<HTMLElement>(null)
  const isMoreOpen = useSignal(false)
  useEffect(() => {
    isMoreOpen.value = false
  }, [path.value])
  useEffect(() => {
    if (!isMoreOpen.value) return
    const close = ({ target }: Event): void => {
      if (frame.current?.contains(target as Node) !== true) isMoreOpen.value = false
    }
    addEventListener('pointerdown', close)
    return () => removeEventListener('pointerdown', close)
  }, [isMoreOpen.value])
  useShortcuts(
    [...pages, welcomePage].map(({ page, title, key }) => ({
      key: `g ${key}`,
      label: title,
      group: 'Go to',
      run: () => navigate(`/${page}`),
    })),
  )

  const numbers = pageCounts(health.value.value)
  const secondaryPages = pages.filter(({ isSecondary = false }) => isSecondary)
  const isSecondaryOpen = secondaryPages.some(({ page }) => page === pageRoute.value.page)
  const hasSecondaryWarning = secondaryPages.some(({ page }) => numbers[page]?.warning !== undefined)
  return (
    <nav
      ref={frame}
      class={isMoreOpen.value ? 'stack rail more' : 'stack rail'}
      aria-label="Pages"
      onKeyDown={(event) => {
        if (event.key === 'Escape') isMoreOpen.value = false
      }}
    >
      <a class="row rail-name" href="/">
        <img src="/console/icon.svg" alt="" width="20" height="20" />
        Parley
      </a>
      <ul class="rail-main">
        {pages
          .filter(({ isSecondary = false }) => !isSecondary)
          .map((entry) => (
            <RailEntry key={entry.page} entry={entry} number={numbers[entry.page]} />
          ))}
      </ul>
      <ul class="rail-less" id="rail-less">
        {secondaryPages.map((entry) => (
          <RailEntry key={entry.page} entry={entry} number={numbers[entry.page]} />
        ))}
      </ul>
      <button
        type="button"
        class={isSecondaryOpen ? 'plain rail-more here' : 'plain rail-more'}
        aria-expanded={isMoreOpen.value}
        aria-controls="rail-less"
        onClick={() => (isMoreOpen.value = !isMoreOpen.value)}
      >
        <Icon name="more" />
        <span class="rail-title">More</span>
        {hasSecondaryWarning && <span class="rail-dot" role="img" aria-label="has issues" />}
      </button>
    </nav>
  )
}

function RailEntry({ entry, number }: { readonly entry: PageEntry; readonly number: PageCount | undefined }) {
  const { page, title, icon, key } = entry
  return (
    <li>
      <a href={`/${page}`} title={`g ${key}`} aria-current={pageRoute.value.page === page ? 'page' : undefined}>
        <Icon name={icon} />
        <span class="rail-title">{title}</span>
        {number?.warning !== undefined && (
          <span class="rail-dot" role="img" title={number.warning} aria-label={number.warning} />
        )}
        {number !== undefined && number.value > 0 && <span class="rail-number">{formatCount(number.value)}</span>}
      </a>
    </li>
  )
}

function pageCounts(health: Health | undefined): Partial<Record<string, PageCount>> {
  if (health === undefined) return {}
  const { agents, tasks, push } = health
  const down = agents.down.length
  return {
    agents: { value: agents.all, warning: down === 0 ? undefined : `${formatCount(down)} with issues` },
    tasks: { value: Object.values(tasks).reduce((sum, one) => sum + one, 0) },
    webhooks: { value: push.dead, warning: push.dead === 0 ? undefined : `${formatCount(push.dead)} undeliverable` },
  }
}
