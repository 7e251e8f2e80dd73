import { Type } from 'typebox'
import { EMBEDDED_AT_ONCE, embed } from '../../core/models/adapter.ts'
import { packed } from '../../core/models/vectors.ts'
import { defineJob } from '../../deps.ts'
import { query } from '../../platform/db/query.ts'
import { findEmbedder } from './embedder.actions.ts'

const TIMEOUT_MS = 60_000

/** Whether a chunk has no vector of the model. A lookup by key for each chunk, never a join with all vectors. */
export const LACKS_VECTOR = `(
  select v.model from knowledge_vectors v where v.app_no = c.app_no and v.chunk_id = c.chunk_id) is distinct from :model`

/** Chunks of a source after one that the model hasn't embedded. */
export const listUnembedded = query<
  { appNo: number; sourceId: string; model: string; after: number; limit: number },
  { chunk_id: string; no: number; text: string }
>(
  'models.listUnembedded',
  `select c.chunk_id, c.no, concat_ws(E'\n', coalesce(p.title, s.title), nullif(c.heading, ''), c.text) as text
   from knowledge_chunks c
   join knowledge_sources s on s.app_no = c.app_no and s.source_id = c.source_id
   left join knowledge_pages p on p.app_no = c.app_no and p.source_id = c.source_id and p.page_id = c.page_id
   where c.app_no = :appNo and c.source_id = :sourceId::uuid and c.no > :after and ${LACKS_VECTOR}
   order by c.no limit :limit`,
)

/** Of chunks that still exist. */
export const storeVectors = query<{
  appNo: number
  model: string
  dimensions: number
  ids: string[]
  vectors: Buffer[]
}>(
  'models.storeVectors',
  `insert into knowledge_vectors (app_no, chunk_id, model, dimensions, vector)
   select c.app_no, c.chunk_id, :model, :dimensions, e.vector
   from unnest(:ids::uuid[], :vectors::bytea[]) e (id, vector)
   join knowledge_chunks c on c.app_no = :appNo and c.chunk_id = e.id
   on conflict (app_no, chunk_id) do update set model = excluded.model, dimensions = excluded.dimensions,
     vector = excluded.vector`,
)

/**
 * Embeds the chunks of a source that have no vector of the app's model. Each run begins with the first chunk: a job that waits
 * for its next try stands for what is asked for meanwhile, and that may be about chunks which it has embedded before.
 */
export const embedJob = defineJob({
  name: 'models.embed',
  summary: 'Embeds a source of knowledge for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Type.Object({}),
  async run({ appNo, input: { sourceId }, checkpoint, signal, context: { deps, cell } }) {
    for (let after = -1; ; ) {
      const embedder = await findEmbedder(deps, cell.db, appNo, { timeoutMs: TIMEOUT_MS, signal })
      if (!embedder) return
      const { id: model } = embedder
      const wanted = { appNo, sourceId, model, after, limit: EMBEDDED_AT_ONCE }
      const chunks = await listUnembedded.many(cell.db, wanted)
      const last = chunks.at(-1)
      if (!last) return
      after = last.no
      const texts = chunks.map(({ text }) => text)
      const vectors = await embed(embedder, texts)
      await checkpoint(async (tx) => {
        await storeVectors.run(tx, {
          ...{ appNo, model, dimensions: vectors[0]?.length ?? 0 },
          ...{ ids: chunks.map(({ chunk_id: id }) => id), vectors: vectors.map(packed) },
        })
        return {}
      })
    }
  },
})
