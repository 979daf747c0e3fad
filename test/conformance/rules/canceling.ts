/** CancelTask. */
import { allVersions, decision, must, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const canceling: Section = {
  title: 'Canceling',
  about: 'A request to stop. The agent is asked first and has a short time to comply.',
  rules: [
    must('B-110', allVersions, 'A cancel returns the current task.'),
    must('B-111', allVersions, 'A task that cannot be canceled is answered with -32002, an unknown one with -32001.'),
    must(
      'B-112',
      v1,
      'A second cancel returns the same canceled task. A task that ended in another way cannot be canceled.',
    ),
    decision('B-113', allVersions, 'If the agent finishes first, the cancel is refused: exactly one of the two wins.'),
    decision('B-114', allVersions, 'Every stream receives the cancel, and every blocking send ends with it.'),
  ],
}
