/** What each request came to: the list of traces, and beside it the one that is selected. */
import { pathOf } from '../../api/call.ts'
import { useActions } from '../../app/palette-state.ts'
import { place, query } from '../../app/router.ts'
import { Copy, copyText } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Split } from '../../parts/split.tsx'
import { asCurl } from '../tasks/as-curl.ts'
import { TraceDetail } from './trace-detail.tsx'
import { askFor, filtersIn } from './trace-filters.ts'
import { TraceList } from './trace-list.tsx'
import './traces-page.css'

export function TracesPage() {
  const [id] = place.value.rest
  const filters = filtersIn(query.value)
  const curl = (): string => asCurl(location.origin, pathOf('listTraces', { query: askFor(filters, Date.now()) }))
  useActions([{ title: 'Copy the list of traces as curl', run: () => void copyText(curl()) }])
  return (
    <div class={id === undefined ? 'listing-page' : 'listing-page open'}>
      <PageHead title="Traces">
        <Copy text={curl} label="Copy the list as curl" class="small">
          curl
        </Copy>
      </PageHead>
      <Split
        name="traces"
        initial={320}
        list={<TraceList filters={filters} selected={id} />}
        detail={id === undefined ? undefined : <TraceDetail key={id} id={id} />}
      />
    </div>
  )
}
