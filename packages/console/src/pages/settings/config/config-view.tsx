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
import { configStrings } from './strings.ts'
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
  if (baseConfig.value === undefined) return <Loading what={configStrings.loading} />
  if (view === undefined) return <ConfigEditView config={config} />
  if (view === 'review') return <ReviewView config={config} />
  if (view === 'versions') return <VersionsView config={config} id={id} />
  return (
    <EmptyState title={configStrings.unknownView}>
      <a class="button" href="/settings/config">
        {configStrings.edit}
      </a>
    </EmptyState>
  )
}

function NoFile() {
  return (
    <EmptyState title={configStrings.noFile.title}>
      <p>{configStrings.noFile.text}</p>
      <CodeBlock text={configStrings.noFile.command} label={configStrings.noFile.commandLabel} />
    </EmptyState>
  )
}
