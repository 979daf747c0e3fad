/** The configuration file: edit, compare, apply and restore. */
import { useEffect } from 'preact/hooks'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { pageRoute } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { baseConfig, receiveConfig, type ConfigText } from './config-draft.ts'
import { ConfigEditView } from './edit-view.tsx'
import { ReviewView } from './review-view.tsx'
import { VersionsView } from './versions-view.tsx'
import './config.css'

async function loadConfig(signal: AbortSignal): Promise<ConfigText | 'no-file'> {
  try {
    return await callAdmin('getConfig', { signal })
  } catch (reason) {
    if (isProblem(reason, 'UNAVAILABLE')) return 'no-file'
    throw reason
  }
}

export function ConfigView() {
  const config = useResource('config', loadConfig, ({ type }) => type === 'config')
  const found = config.value.value
  useEffect(() => {
    if (typeof found === 'object') receiveConfig(found)
  }, [found])
  const [, view, id] = pageRoute.value.segments

  if (found === 'no-file') return <NoFile />
  if (config.problem.value !== undefined && baseConfig.value === undefined) {
    return <ErrorNotice reason={config.problem.value} retry={config.reload} />
  }
  if (baseConfig.value === undefined) return <Loading what="the configuration" />
  if (view === undefined) return <ConfigEditView config={config} />
  if (view === 'review') return <ReviewView config={config} />
  if (view === 'versions') return <VersionsView config={config} id={id} />
  return (
    <EmptyState title="Page not found">
      <a class="button" href="/settings/config">
        Edit configuration
      </a>
    </EmptyState>
  )
}

function NoFile() {
  return (
    <EmptyState title="This hub has no configuration file">
      <p>
        A program started this hub, and only that program can change its configuration. Agents, tasks, keys and webhooks
        work as usual. To edit the configuration here, start the hub from a file:
      </p>
      <CodeBlock text="parley up --config parley.yaml" label="the command" />
    </EmptyState>
  )
}
