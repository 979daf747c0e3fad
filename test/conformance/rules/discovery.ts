/** Which version is spoken, and how an agent is found and described. */
import { allVersions, decision, may, must, practice, should, v0_3, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const versioning: Section = {
  title: 'Versions',
  about: 'One endpoint answers 0.2, 0.3 and 1.0. The `A2A-Version` header says which is meant.',
  rules: [
    may('B-2', v1, 'The version may be given as a query parameter. The header wins where both are given.'),
    must('B-3', v1, 'A missing or empty version means 0.3.'),
    must('B-4', v1, 'Only major and minor count: `1.0.7` is 1.0. What cannot be read as a version is not supported.'),
    must('B-5', v1, 'A version that this interface does not offer is refused, and the operation does not run.'),
    must('B-6', v1, 'The answer has the shapes and the meaning of the version asked for, also when it is an error.'),
    decision(
      'B-7',
      allVersions,
      'The refusal names the versions that are offered, in the newest shape the client could understand.',
    ),
    may('B-8', v1, 'One binding may be offered in several versions at one address; the card has one entry for each.'),
    should('B-9', v1, 'An application may pin the versions it speaks; the others are refused.'),
    decision(
      'B-10',
      allVersions,
      'A version header that is present always wins. Without one, the grammar of the JSON-RPC method decides (`message/send` is 0.x, `SendMessage` is 1.0); with `strict` a missing header means 0.3, as the text says.',
    ),
    decision(
      'B-11',
      allVersions,
      'REST under `/v1` is 0.3 unless the header says otherwise, and REST at the root is 1.0.',
    ),
    decision(
      'B-13',
      allVersions,
      'A task made through one version can be read, followed and canceled through every other.',
    ),
  ],
}

export const cards: Section = {
  title: 'Agent cards',
  about: 'The document in which an agent says what it can do and where it can be reached.',
  rules: [
    must(
      'B-14',
      allVersions,
      'The card is at `/.well-known/agent-card.json`, and for 0.2 clients at `/.well-known/agent.json`.',
    ),
    must('B-15', v1, 'What is served there is a card, as `application/json`, in the shape of the version asked for.'),
    must('B-16', allVersions, 'Every interface listed is really served, the preferred one first.'),
    must('B-17', v1, 'A client takes the first listed interface that it supports.'),
    must(
      'B-18',
      v0_3,
      'A client prefers the main url if it speaks its transport, and never mixes the url of one entry with the transport of another.',
    ),
    must('B-19', v0_3, 'The preferred transport is stated and is what the main url speaks.'),
    should('B-20', allVersions, 'A client falls back to another listed interface when its choice fails.'),
    should('B-21', v1, 'Cards may be cached: they carry `Cache-Control` with an age and an `ETag`.'),
    should('B-22', v1, 'A reader who kept a card may ask whether it has changed instead of fetching it again.'),
    decision(
      'B-23',
      v1,
      'A matching `If-None-Match` is answered 304. Each variant has its own ETag, and `Vary` names the header that chooses between them.',
    ),
    must('B-24', allVersions, 'Cards hold no secrets, and a card that is not public requires authentication.'),
    must(
      'B-25',
      allVersions,
      'In production the addresses are HTTPS: the card advertises the public url it was given.',
    ),
    decision(
      'B-26',
      allVersions,
      'A card that lacks a required field is refused, and the field is named; one that lists no interface is that of a peer with simple tasks (S0-4).',
    ),
    should('B-27', v1, 'Agents that share a host have a card each, at a path of their own.'),
    practice(
      'B-28',
      allVersions,
      'The generation of a card is recognised by its fields, so that one document can serve old and new readers.',
    ),
  ],
}

export const signatures: Section = {
  title: 'Signed cards',
  about: 'A card may carry signatures, which prove its author and that it was not changed.',
  rules: [
    may('B-29', v1, 'Cards may be signed: JWS with the payload detached, over the canonical form of the card.'),
    must(
      'B-30',
      v1,
      'Signed are the fields of 1.0 without `signatures`, in canonical JSON (RFC 8785): required and explicitly set fields stay, all others go where they hold their default. Security schemes and requirements are among them.',
    ),
    must(
      'B-31',
      v1,
      'A verifier finds the key by `kid` among keys that it trusts, makes the canonical form anew and checks it. Where `jku` leads is trusted only if it is the origin of the card, or was listed.',
    ),
    should(
      'B-32',
      v1,
      'One good signature is enough, so that keys can be changed. Keys come over HTTPS; those that have ended or were revoked, and algorithms without a public key, count for nothing.',
    ),
    decision(
      'B-33',
      v1,
      'A client ignores signatures, warns or requires them. A card that was changed after it was signed is refused even where it only warns; one by an unknown key is unverified, not forged.',
    ),
    decision(
      'B-34',
      v1,
      'A changed card is signed again. The document for readers of all versions is signed by its 1.0 view, and an address that a request names is never signed.',
    ),
  ],
}

export const extendedCard: Section = {
  title: 'Extended cards',
  about: 'A second card that only authenticated callers may read.',
  rules: [
    must(
      'B-136',
      allVersions,
      'An agent that does not announce an extended card refuses the operation; one that announces it and has none answers -32007.',
    ),
    must('B-137', allVersions, 'The extended card requires authentication.'),
    may('B-138', allVersions, 'It may differ from caller to caller: each is shown the skills that it may use.'),
    should('B-139', allVersions, 'A client replaces the public card by it.'),
    should('B-140', v1, 'It is marked as private to its reader.'),
  ],
}
