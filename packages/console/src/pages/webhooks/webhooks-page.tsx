/** Webhooks of all tasks: progress, next attempt, and redelivery. */
import { adminPath } from '../../api/admin-client.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { navigate, pageRoute, query } from '../../app/router.ts'
import { CopyButton, copyText } from '../../components/content/copy-button.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SplitView } from '../../components/layout/split-view.tsx'
import { adminCurl } from '../../components/shell/curl.ts'
import { WebhookDetail } from './webhook-detail.tsx'
import { WebhookList } from './webhook-list.tsx'
import { setFilters } from '../../components/filters/url-filters.ts'
import { webhookFilters } from './webhook-status.ts'
import './webhooks-page.css'

export function WebhooksPage() {
  const [taskId, configId] = pageRoute.value.segments
  const filters = webhookFilters.read(query.value)
  const isOpen = taskId !== undefined && configId !== undefined
  const curl = (): string => adminCurl(location.origin, adminPath('listPush', { query: setFilters(filters) }))
  usePaletteActions([
    { title: 'Show undeliverable webhooks', run: () => navigate('/webhooks?state=dead') },
    { title: 'Copy the list of webhooks as curl', run: () => void copyText(curl()) },
  ])
  return (
    <div class={isOpen ? 'fill listing-page open' : 'fill listing-page'}>
      <PageHead title="Webhooks">
        <CopyButton text={curl} label="Copy as curl" class="small">
          curl
        </CopyButton>
      </PageHead>
      <SplitView
        name="webhooks"
        initial={420}
        list={<WebhookList filters={filters} selected={isOpen ? `${taskId} ${configId}` : undefined} />}
        detail={
          isOpen ? <WebhookDetail key={`${taskId} ${configId}`} taskId={taskId} configId={configId} /> : undefined
        }
      />
    </div>
  )
}
