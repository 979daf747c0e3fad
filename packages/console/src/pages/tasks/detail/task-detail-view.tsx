/** One task: head, timeline, and four views that share the selected event. */
import type { TaskDetail as Detail } from '../../../api/admin.ts'
import { isProblem } from '../../../api/problem.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { Tabs } from '../../../components/layout/tabs.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { ConversationTab } from './conversation-tab.tsx'
import { EventsTab } from '../events/events-tab.tsx'
import { TaskHead } from './task-head.tsx'
import { useTaskLog, type TaskLog } from './task-log.ts'
import { listHref, openTab, selectedSeq, selectEvent, tabHref, taskTabs, type TaskTab } from '../task-links.ts'
import { eventIndexAtSeq } from '../timeline/event-axis.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { TraceTab } from './trace-tab.tsx'
import { useReplay } from '../replay/replay.tsx'
import { useTask } from './use-task.ts'
import { ProtocolTab } from '../protocol/protocol-tab.tsx'
import { tasksStrings } from '../strings.ts'
import './task-detail-view.css'

const { detail: strings } = tasksStrings

export function TaskDetailView({ id, tab }: { readonly id: string; readonly tab: TaskTab }) {
  const { detail, problem, reload } = useTask(id)
  const log = useTaskLog(id)
  useShortcuts([
    {
      key: 'Escape',
      label: strings.escape,
      run: () => (selectedSeq() === undefined ? navigate(listHref()) : selectEvent(undefined)),
    },
  ])
  if (detail === undefined) {
    if (isProblem(problem, 'NOT_FOUND')) {
      return (
        <EmptyState title={strings.notFound}>
          <p>{strings.notFoundAdvice}</p>
          <a class="button" href={listHref()}>
            {strings.backToList}
          </a>
        </EmptyState>
      )
    }
    return problem === undefined ? (
      <Loading what={strings.loading} shape="text" />
    ) : (
      <ErrorNotice reason={problem} retry={reload} />
    )
  }
  return <LoadedTaskView detail={detail} log={log} tab={tab} />
}

function LoadedTaskView({
  detail,
  log,
  tab,
}: {
  readonly detail: Detail
  readonly log: TaskLog
  readonly tab: TaskTab
}) {
  const { id } = detail
  const events = log.events.value
  const replay = useReplay(events)
  const canReplay = log.isFromStart.value && log.isComplete.value && events.length > 0

  function play(): void {
    if (!canReplay) return
    if (tab !== 'conversation') openTab(id, 'conversation')
    if (replay.isPlaying) replay.pause()
    else replay.play()
  }

  function moveEvent(by: number): void {
    const at = eventIndexAtSeq(events, selectedSeq() ?? (by > 0 ? -1 : Number.POSITIVE_INFINITY))
    const next = events[selectedSeq() === undefined && by < 0 ? at : at + by]
    if (next !== undefined) selectEvent(next.seq)
  }

  useShortcuts([
    { key: 'r', label: strings.replayShortcut, run: play },
    { key: '.', label: strings.nextEvent, run: () => moveEvent(1) },
    { key: ',', label: strings.previousEvent, run: () => moveEvent(-1) },
  ])

  return (
    <div class="fill task-detail">
      <TaskHead detail={detail} log={log} />
      <div class="task-time">
        <button
          type="button"
          class="icon small"
          disabled={!canReplay}
          aria-label={replay.isPlaying ? strings.pauseReplay : strings.replay}
          title={canReplay ? strings.replayHint : strings.cannotReplay}
          onClick={play}
        >
          <Icon name={replay.isPlaying ? 'stop' : 'play'} size={14} />
        </button>
        <Timeline task={detail} events={events} seq={replay.seq} onSelect={selectEvent} />
      </div>
      <Tabs
        label={strings.views}
        open={tab}
        tabs={taskTabs.map((one) => ({
          id: one,
          label: strings.tabs[one],
          href: tabHref(id, one),
          ...(one === 'events' ? { count: detail.head } : {}),
        }))}
      />
      {log.problem.value !== undefined && <ErrorNotice reason={log.problem.value} retry={log.retry} />}
      {tab === 'conversation' && <ConversationTab detail={detail} log={log} replay={replay} />}
      {tab === 'events' && <EventsTab detail={detail} log={log} />}
      {tab === 'protocol' && <ProtocolTab taskId={id} log={log} />}
      {tab === 'trace' && <TraceTab detail={detail} log={log} />}
    </div>
  )
}
