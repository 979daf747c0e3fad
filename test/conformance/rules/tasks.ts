/** The lifecycle of a task, and its identifiers. */
import { allVersions, decision, may, must, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const tasks: Section = {
  title: 'Tasks',
  about: 'A task goes from SUBMITTED over WORKING, possibly with questions, to one of four final states.',
  rules: [
    must(
      'B-43',
      allVersions,
      'A final state is final. A message to such a task is an unsupported operation in every version, and later reports of its agent are dropped.',
    ),
    should(
      'B-44',
      allVersions,
      'To continue after the end, a client sends a new message in the same context that refers to the finished task.',
    ),
    decision(
      'B-45',
      allVersions,
      'A running task accepts further messages: they wait their turn (`queue`, the default), are refused (`reject`) or are passed to the running turn (`steer`). Two turns of one task never run at once.',
    ),
    should('B-46', v1, 'Results are artifacts; messages are for questions and progress.'),
    decision(
      'B-47',
      allVersions,
      'Every message of the user is kept in the history, and so is a status message when the next one replaces it; both have the ids of task and context.',
    ),
    decision(
      'B-48',
      allVersions,
      'Each change of state carries its time in UTC with milliseconds, never earlier than the one before.',
    ),
    may(
      'B-49',
      v1,
      'An agent may reply with a direct message instead of a task. Once a task exists, the response is that task.',
    ),
    decision(
      'B-50',
      allVersions,
      'An agent that throws, reports invalid values or times out ends its task as FAILED with a message, which is stored and delivered to every reader.',
    ),
    should('B-51', v1, 'Work that an agent declines is REJECTED, at the start or later.'),
    decision(
      'B-52',
      allVersions,
      'After a restart no task hangs: it is run again, re-attached or failed with a reason, as its agent declares.',
    ),
  ],
}

export const identifiers: Section = {
  title: 'Ids and contexts',
  about: 'Who creates which id, and what happens when ids do not match.',
  rules: [
    must('B-53', allVersions, 'The server creates task ids. A client cannot choose one.'),
    must('B-54', allVersions, 'A message for an unknown task gives "task not found"; no task is created.'),
    must('B-55', allVersions, 'A message without a context opens one, and the response has its id.'),
    decision(
      'B-56',
      allVersions,
      'A context id of the client is kept unchanged. An invalid one is refused with the reason CONTEXT_REJECTED and never replaced by another.',
    ),
    must('B-57', v1, 'If only the task is named, its context follows from it.'),
    must('B-58', v1, 'A task and a context that do not match are refused.'),
    should('B-59', v1, 'Clients treat ids of the server as opaque.'),
    may('B-60', v1, 'Contexts may expire.', {
      open: 'contexts live as long as their tasks; they do not expire on their own',
    }),
    must('B-61', v1, 'Messages of an agent have the context, and the task if there is one.'),
    should(
      'B-62',
      v1,
      'Tasks that a message refers to are passed to the agent, if the caller may see them. Others are omitted silently.',
    ),
  ],
}
