/** Behaviour that the protocol describes by example rather than by rule. */
import { allVersions, must, practice, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const topics: Section = {
  title: 'Described by example',
  about: 'The guides that accompany the protocol show these conversations; each is covered by a test.',
  rules: [
    practice(
      'T-1',
      allVersions,
      'Agents may answer with messages, with tasks, or with either. Once a task exists, it is the response.',
    ),
    practice(
      'T-2',
      allVersions,
      'A message after the end opens a new task in the same context; a refined artifact keeps its name and gets a new id.',
    ),
    practice(
      'T-3',
      allVersions,
      'Several messages in one context at the same time open several tasks that run concurrently.',
    ),
    practice(
      'T-4',
      allVersions,
      'An agent that cannot determine which artifact is meant asks; the client may name artifact and task in the metadata of a part.',
    ),
    practice(
      'T-5',
      allVersions,
      'A stream closes at the end or at a question. A client resumes an interrupted stream by subscribing.',
    ),
    practice(
      'T-6',
      allVersions,
      'A webhook can be set inside a send or by its own operation, with the same result and the same errors.',
    ),
    practice(
      'T-9',
      allVersions,
      'Extensions are requested and confirmed by header; an unknown one is ignored and a missing required one is an error.',
    ),
    practice('T-10', allVersions, 'Data of an extension is in metadata under its URI.'),
    must(
      'T-11',
      allVersions,
      'The URI of an extension or a binding is a name and is never fetched; built-in extensions are off until they are listed.',
    ),
    practice(
      'T-12',
      allVersions,
      'An unauthenticated caller gets 401 and a challenge, a caller without permission gets 403, and the caller is never read from a payload.',
    ),
    practice('T-13', allVersions, 'A token without the scope of a skill cannot use the skill.'),
    practice(
      'T-14',
      allVersions,
      'The card is fetched, cached and revalidated, and a card behind authentication is served to authenticated callers.',
    ),
    practice(
      'T-15',
      v1,
      'A tenant is named by the path, by the payload or by the caller, or by several of them together.',
    ),
    practice(
      'T-16',
      allVersions,
      'A binding may be custom, named by a URI: it carries every operation, and a client that does not support it skips it.',
    ),
    must('T-17', allVersions, 'A part has exactly one content.'),
  ],
}
