/** Behaviour that the protocol describes by example rather than by rule. */
import { allVersions, must, practice, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const topics: Section = {
  title: 'Described by example',
  about: 'The guides that accompany the protocol show these conversations; each is one of our tests.',
  rules: [
    practice(
      'T-1',
      allVersions,
      'Agents that answer with messages, with tasks, or with now one and now the other are all valid. Once a task exists, it is the answer.',
    ),
    practice(
      'T-2',
      allVersions,
      'Going on after the end makes a new task in the same context; a refined artifact keeps its name and gets a new id.',
    ),
    practice(
      'T-3',
      allVersions,
      'Several messages in one context at the same time make several tasks that run side by side.',
    ),
    practice(
      'T-4',
      allVersions,
      'An agent that cannot tell which artifact is meant asks; the client may name artifact and task in the metadata of a part.',
    ),
    practice(
      'T-5',
      allVersions,
      'A stream closes at the end or at a question. One that broke off is taken up by subscribing.',
    ),
    practice(
      'T-6',
      allVersions,
      'A webhook can be asked for inside a send or by its own operation, and is treated alike, also where it is refused.',
    ),
    practice(
      'T-9',
      allVersions,
      'Extensions are asked for and confirmed by header; an unknown one is ignored and a missing required one is an error.',
    ),
    practice('T-10', allVersions, 'Data of an extension stands in metadata under its URI.'),
    must(
      'T-11',
      allVersions,
      'The URI of an extension or a binding is a name and is never fetched; what a library brings along is off until it is listed.',
    ),
    practice(
      'T-12',
      allVersions,
      'Who is not known is asked by 401 and a challenge, who may not is told by 403, and who calls is never read from a payload.',
    ),
    practice('T-13', allVersions, 'A token that lacks the scope of a skill cannot use the skill.'),
    practice(
      'T-14',
      allVersions,
      'The card is fetched, cached and revalidated, and a card behind authentication is served to those who have it.',
    ),
    practice(
      'T-15',
      v1,
      'A tenant is named by the path, by the payload or by who calls, or by several of them together.',
    ),
    practice(
      'T-16',
      allVersions,
      'A binding may be anybody’s, named by a URI: it carries every operation, and a client that does not know it passes it over.',
    ),
    must('T-17', allVersions, 'A part has exactly one content.'),
  ],
}
