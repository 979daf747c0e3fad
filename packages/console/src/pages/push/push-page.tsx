/** Webhooks of all tasks: how far each was told, what is tried next, what was given up; and another try. */
import { pathOf } from '../../api/call.ts'
import { useActions } from '../../app/palette-state.ts'
import { go, place, query } from '../../app/router.ts'
import { Copy, copyText } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
import { asCurl } from '../tasks/as-curl.ts'
import { PushDetail } from './push-detail.tsx'
import { PushList } from './push-list.tsx'
import { askFor, filtersIn } from './push-words.ts'
import './push-page.css'

export function PushPage() {
  const [taskId, configId] = place.value.rest
  const filters = filtersIn(query.value)
  const isOpen = taskId !== undefined && configId !== undefined
  const curl = (): string => asCurl(location.origin, pathOf('listPush', { query: askFor(filters) }))
  useActions([
    { title: 'Show the dead letters', run: () => go('/push?state=dead') },
    { title: 'Copy the list of webhooks as curl', run: () => void copyText(curl()) },
  ])
  return (
    <div class={isOpen ? 'listing-page open' : 'listing-page'}>
      <PageHead title="Push">
        <Copy text={curl} label="Copy the list as curl" class="small">
          curl
        </Copy>
      </PageHead>
      <Split
        name="push"
        initial={420}
        list={<PushList filters={filters} selected={isOpen ? `${taskId} ${configId}` : undefined} />}
        detail={isOpen ? <PushDetail key={`${taskId} ${configId}`} taskId={taskId} configId={configId} /> : undefined}
      />
    </div>
  )
}
