/** The list of traces, and beside it the selected one. */
import { adminPath } from '../../api/admin-client.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { pageRoute, query } from '../../app/router.ts'
import { CopyButton, copyText } from '../../components/content/copy-button.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { adminCurl } from '../../components/shell/curl.ts'
import { TraceDetail } from './trace-detail.tsx'
import { traceFilters, traceListQuery } from './trace-filters.ts'
import { TraceList } from './trace-list.tsx'
import './traces-page.css'

export function TracesPage() {
  const [id] = pageRoute.value.segments
  const filters = traceFilters.read(query.value)
  const curl = (): string =>
    adminCurl(location.origin, adminPath('listTraces', { query: traceListQuery(filters, Date.now()) }))
  usePaletteActions([{ title: 'Copy the trace list as curl', run: () => void copyText(curl()) }])
  return (
    <div class={id === undefined ? 'fill listing-page' : 'fill listing-page open'}>
      <PageHead title="Traces">
        <CopyButton text={curl} label="Copy list as curl" class="small">
          curl
        </CopyButton>
      </PageHead>
      <SplitView
        name="traces"
        initial={320}
        list={<TraceList filters={filters} selected={id} />}
        detail={id === undefined ? undefined : <TraceDetail key={id} id={id} />}
      />
    </div>
  )
}
