/** One event as clients of each version get it, side by side, with the differences marked; and the bytes of its frame. */
import type { VersionId } from '@parley/a2a/client'
import { versionIds } from '@parley/a2a/internal'
import { useMemo } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { formatBytes } from '../../../components/format.ts'
import { bindingTitles } from '../../../components/binding-titles.ts'
import { Icon } from '../../../components/icon.tsx'
import { PayloadColumns } from '../../../components/protocol/payload-view.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import type { TaskLog } from '../detail/task-log.ts'
import { selectedSeq, selectEvent } from '../task-links.ts'
import './protocol-tab.css'

type Frame = AdminResponse<'listTaskFrames'>['events'][number]['frames'][number]
type Binding = Frame['binding']

export function ProtocolTab({ taskId, log }: { readonly taskId: string; readonly log: TaskLog }) {
  const visible = useMemo(() => log.events.value.filter(({ isVisible }) => isVisible), [log.events.value])
  const selected = selectedSeq()
  const seq = selected ?? visible.at(-1)?.seq
  const binding: Binding = query.value.get('binding') === 'rest' ? 'HTTP+JSON' : 'JSONRPC'
  const one = versionIds.find((version) => version === query.value.get('version'))
  if (seq === undefined) return log.isComplete.value ? <NoFrames /> : <Loading what="events" />
  const before = visible.findLast((event) => event.seq < seq)?.seq
  const after = visible.find((event) => event.seq > seq)?.seq
  return (
    <div class="fill protocol-tab">
      <div class="bar protocol-tools">
        <EventStepButton to={before} label="Previous event that clients receive" icon="back" />
        <span class="protocol-seq">Event {seq}</span>
        <EventStepButton to={after} label="Next event that clients receive" icon="next" />
        <span class="grow" />
        <SegmentedControl
          label="Binding"
          value={binding}
          options={[
            ['JSONRPC', bindingTitles.JSONRPC],
            ['HTTP+JSON', bindingTitles['HTTP+JSON']],
          ]}
          onChange={(wanted) => setQuery({ binding: wanted === 'HTTP+JSON' ? 'rest' : undefined })}
        />
        <SegmentedControl<VersionId | 'all'>
          label="Versions"
          value={one ?? 'all'}
          options={[['all', 'All'], ...versionIds.map((version) => [version, version] as const)]}
          onChange={(wanted) => setQuery({ version: wanted === 'all' ? undefined : wanted })}
        />
      </div>
      {visible.some((event) => event.seq === seq) ? (
        <Frames taskId={taskId} seq={seq} binding={binding} one={one} />
      ) : log.isComplete.value ? (
        <EmptyState title="Clients do not receive this event">
          <p>It is only in the log. Select one of the events beside it that clients receive.</p>
        </EmptyState>
      ) : (
        <Loading what="event" />
      )}
    </div>
  )
}

function NoFrames() {
  return <EmptyState title="No events sent to clients yet" />
}

function EventStepButton({
  to,
  label,
  icon,
}: {
  readonly to: number | undefined
  readonly label: string
  readonly icon: 'back' | 'next'
}) {
  return (
    <button
      type="button"
      class="icon small"
      aria-label={label}
      title={label}
      disabled={to === undefined}
      onClick={() => selectEvent(to)}
    >
      <Icon name={icon} size={14} />
    </button>
  )
}

interface FramesProps {
  readonly taskId: string
  readonly seq: number
  readonly binding: Binding
  readonly one: VersionId | undefined
}

function Frames({ taskId, seq, binding, one }: FramesProps) {
  const resource = useResource(`frames ${taskId} ${seq}`, (signal) =>
    callAdmin('listTaskFrames', { params: { taskId }, query: { after: seq - 1, limit: 1 }, signal }),
  )
  if (resource.problem.value !== undefined) {
    return <ErrorNotice reason={resource.problem.value} retry={() => resource.reload()} />
  }
  const event = resource.value.value?.events[0]
  const frames = event?.frames.filter((frame) => frame.binding === binding)
  if (frames === undefined) return <Loading what="frames" />
  if (event?.omittedBytes !== undefined) {
    return (
      <EmptyState title={`This event is too large to show: ${formatBytes(event.omittedBytes)}`}>
        <p>Clients receive it in full.</p>
      </EmptyState>
    )
  }
  const payloads = versionIds.flatMap((version) => {
    const frame = frames.find((made) => made.version === version)
    if (frame === undefined) return []
    const label = `As clients of ${version} receive it`
    const about = `the frame of ${version}`
    return [{ name: version, title: `A2A ${version}`, label, about, value: frame.payload, text: frame.frame }]
  })
  const isShown = ({ name }: { readonly name: string }): boolean => one === undefined || one === name
  return (
    <PayloadColumns
      payloads={payloads.filter(isShown)}
      hidden={payloads.filter((payload) => !isShown(payload))}
      open={9}
    />
  )
}
