/** One task: head, timeline, and four views that share the selected event. */
import type { TaskDetail as Detail } from '../../../api/admin.ts'
import { isProblem } from '../../../api/problem.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { lazyView } from '../../../components/layout/lazy-view.tsx'
import { Tabs } from '../../../components/layout/tabs.tsx'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { ConversationTab } from './conversation-tab.tsx'
import { TaskHead } from './task-head.tsx'
import { useTaskLog, type TaskLog } from './task-log.ts'
import { listHref, openTab, selectedSeq, selectEvent, tabHref, taskTabs, type TaskTab } from '../task-links.ts'
import { eventIndexAtSeq } from '../timeline/event-axis.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { useReplay } from '../replay/replay.tsx'
import { useTask } from './use-task.ts'
import './task-detail-view.css'

const EventsTab = lazyView('the events', async () => (await import('../events/events-tab.tsx')).EventsTab)
const ProtocolTab = lazyView('the frames', async () => (await import('../protocol/protocol-tab.tsx')).ProtocolTab)
const TraceTab = lazyView('the trace', async () => (await import('./trace-tab.tsx')).TraceTab)

const tabTitles = { conversation: 'Conversation', events: 'Events', protocol: 'Protocol', trace: 'Trace' }

export function TaskDetailView({ id, tab }: { readonly id: string; readonly tab: TaskTab }) {
  const { detail, problem, reload } = useTask(id)
  const log = useTaskLog(id)
  useShortcuts([
    {
      key: 'Escape',
      label: 'Back: from the event to the task, from the task to the list',
      run: () => (selectedSeq() === undefined ? navigate(listHref()) : selectEvent(undefined)),
    },
  ])
  if (detail === undefined) {
    if (isProblem(problem, 'NOT_FOUND')) {
      return (
        <EmptyState title="Task not found">
          <p>It may have been removed: the retention settings limit how long finished tasks are kept.</p>
          <a class="button" href={listHref()}>
            Back to tasks
          </a>
        </EmptyState>
      )
    }
    return problem === undefined ? (
      <Loading what="task" shape="text" />
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
    { key: 'r', label: 'Replay from the selected event, or pause', run: play },
    { key: '.', label: 'Next event', run: () => moveEvent(1) },
    { key: ',', label: 'Previous event', run: () => moveEvent(-1) },
  ])

  return (
    <div class="fill task-detail">
      <TaskHead detail={detail} log={log} />
      <div class="task-time">
        <button
          type="button"
          class="icon small"
          disabled={!canReplay}
          aria-label={replay.isPlaying ? 'Pause replay' : 'Replay'}
          title={canReplay ? 'Replay (r)' : 'The beginning of the log was dropped'}
          onClick={play}
        >
          <Icon name={replay.isPlaying ? 'stop' : 'play'} size={14} />
        </button>
        <Timeline task={detail} events={events} seq={replay.seq} onSelect={selectEvent} />
      </div>
      <Tabs
        label="Views of the task"
        open={tab}
        tabs={taskTabs.map((one) => ({
          id: one,
          label: tabTitles[one],
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
