"""Programs that run inside the environments of peers that are libraries.

Each reads a job from the file named first and writes what it found to the one named second.
"""

_FRAME = """
import json, sys, time
from urllib.request import Request, urlopen

job = json.load(open(sys.argv[1]))

def embedded(texts):
    vectors = []
    for at in range(0, len(texts), 30):
        body = json.dumps({"model": "local", "input": texts[at : at + 30]}).encode()
        request = Request(job["embeddings"] + "/embeddings", body)
        request.add_header("Content-Type", "application/json")
        with urlopen(request) as answer:
            vectors += [each["embedding"] for each in json.load(answer)["data"]]
    return vectors

def answer(search):
    found, milliseconds = {}, []
    for question in list(job["questions"].values())[:5]:
        search(question)
    for asked, question in job["questions"].items():
        began = time.perf_counter()
        found[asked] = search(question)
        milliseconds.append(1000 * (time.perf_counter() - began))
    json.dump({"found": found, "milliseconds": milliseconds}, open(sys.argv[2], "w"))
"""

MEM0 = f"""
import os
os.environ["MEM0_TELEMETRY"] = "False"
{_FRAME}
from mem0 import Memory

model = {{"model": "text-embedding-3-small", "openai_base_url": job["embeddings"]}}
store = {{"path": job["folder"] + "/vectors", "on_disk": True}}
memory = Memory.from_config({{
    "embedder": {{"provider": "openai", "config": model | {{"embedding_dims": job["dimensions"]}}}},
    "vector_store": {{
        "provider": "qdrant", "config": store | {{"embedding_model_dims": job["dimensions"]}}
    }},
    "llm": {{"provider": "openai", "config": {{"openai_base_url": job["embeddings"]}}}},
    "history_db_path": job["folder"] + "/history.db",
}})
for path, text in job["parts"]:
    message = {{"role": "user", "content": text}}
    memory.add([message], user_id="u", metadata={{"path": path}}, infer=False)

def search(question):
    hits = memory.search(question, filters={{"user_id": "u"}}, top_k=job["limit"])
    return [hit["metadata"]["path"] for hit in hits["results"]]

answer(search)
"""

CHROMADB = f"""
{_FRAME}
import chromadb

client = chromadb.PersistentClient(job["folder"] + "/chroma")
notes = client.create_collection(
    "notes", metadata={{"hnsw:space": "cosine"}}, embedding_function=None
)
parts, vectors = job["parts"], embedded([text for _, text in job["parts"]])
for at in range(0, len(parts), 1000):
    some = parts[at : at + 1000]
    notes.add(
        ids=[str(at + number) for number in range(len(some))],
        embeddings=vectors[at : at + 1000],
        metadatas=[{{"path": path}} for path, _ in some],
    )

def search(question):
    found = notes.query(query_embeddings=embedded([question]), n_results=job["limit"])
    return [each["path"] for each in found["metadatas"][0]]

answer(search)
"""

LANCEDB = f"""
{_FRAME}
import lancedb

parts, vectors = job["parts"], embedded([text for _, text in job["parts"]])
rows = [
    {{"path": path, "text": text, "vector": vector}}
    for (path, text), vector in zip(parts, vectors)
]
notes = lancedb.connect(job["folder"] + "/lance").create_table("notes", rows)
notes.create_fts_index("text")

def search(question):
    [vector] = embedded([question])
    query = notes.search(query_type="hybrid").vector(vector).text(question)
    return [hit["path"] for hit in query.limit(job["limit"]).to_list()]

answer(search)
"""
