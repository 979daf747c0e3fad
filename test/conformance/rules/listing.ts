/** ListTasks. */
import { decision, must, legacyVersions, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const listing: Section = {
  title: 'Listing tasks',
  about: 'Only 1.0 can list tasks.',
  rules: [
    must('B-77', v1, 'A caller sees only its own tasks, with or without filters.'),
    must('B-78', v1, 'The order is by the time of the status, newest first; at the same time by id.'),
    must(
      'B-79',
      v1,
      'Pages are requested by an opaque token that stays valid when tasks are added or removed, including the one it points at.',
    ),
    must('B-80', v1, 'A page has 50 tasks by default; 1 to 100 may be requested, and anything else is refused.'),
    must(
      'B-81',
      v1,
      'An invalid page token, state, time or history length is refused. No state, or the unspecified one, is no filter.',
    ),
    must('B-82', v1, 'Filters are combined with AND. The time filter is inclusive.'),
    must('B-83', v1, 'Artifacts are included on request only; otherwise the key is absent.'),
    must('B-84', v1, 'The token for the next page is always present, and empty on the last page.'),
    must('B-85', v1, '`totalSize` counts every match, not only this page. `pageSize` repeats the limit in force.'),
    decision('B-86', v1, 'A client stops at an empty or repeated token.', {
      open: 'our client returns one page at a time',
    }),
    decision('B-87', legacyVersions, '0.x has no such method: -32601.'),
  ],
}
