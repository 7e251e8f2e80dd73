import { Type } from 'typebox'
import { EMBEDDED_AT_ONCE, embed } from '../../core/models/adapter.ts'
import { packed } from '../../core/models/vectors.ts'
import { defineJob } from '../../deps.ts'
import { query } from '../../platform/db/query.ts'
import { findEmbedder } from './embedder.actions.ts'

const TIMEOUT_MS = 60_000

/** Chunks of a source after one, and whether the model has embedded them. */
export const listChunks = query<
  { appNo: number; sourceId: string; model: string; after: number; limit: number },
  { chunk_id: string; no: number; text: string; embedded: boolean }
>(
  'models.listChunks',
  `select c.chunk_id, c.no, v.chunk_id is not null as embedded,
     concat_ws(E'\n', coalesce(p.title, s.title), nullif(c.heading, ''), c.text) as text
   from knowledge_chunks c
   join knowledge_sources s on s.app_no = c.app_no and s.source_id = c.source_id
   left join knowledge_pages p on p.app_no = c.app_no and p.source_id = c.source_id and p.page_id = c.page_id
   left join knowledge_vectors v on v.app_no = c.app_no and v.chunk_id = c.chunk_id and v.model = :model
   where c.app_no = :appNo and c.source_id = :sourceId::uuid and c.no > :after
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

/** Embeds the chunks of a source that have no vector of the app's model. */
export const embedJob = defineJob({
  name: 'models.embed',
  summary: 'Embeds a source of knowledge for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Type.Object({ after: Type.Integer() }),
  async run({ appNo, input: { sourceId }, saved, checkpoint, signal, context: { deps, cell } }) {
    const embedder = await findEmbedder(deps, cell.db, appNo, { timeoutMs: TIMEOUT_MS, signal })
    if (!embedder) return
    const { id: model } = embedder
    for (let after = saved?.after ?? -1; ; ) {
      const wanted = { appNo, sourceId, model, after, limit: EMBEDDED_AT_ONCE }
      const chunks = await listChunks.many(cell.db, wanted)
      const last = chunks.at(-1)
      if (!last) return
      after = last.no
      const missing = chunks.filter(({ embedded }) => !embedded)
      const vectors = await embed(
        embedder,
        missing.map(({ text }) => text),
      )
      await checkpoint(async (tx) => {
        const dimensions = vectors[0]?.length ?? 0
        const ids = missing.map(({ chunk_id: id }) => id)
        if (dimensions > 0)
          await storeVectors.run(tx, {
            appNo,
            model,
            dimensions,
            ids,
            vectors: vectors.map(packed),
          })
        return { after }
      })
    }
  },
})
