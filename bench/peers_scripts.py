"""Programs that run inside the environments of peers that are libraries.

Each takes in the parts of the job whose file is named, and then answers each question, a line of
JSON, with the paths of the parts it finds, another.
"""

_FRAME = """
import json, os, sys
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

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a library prints is no answer

def answer(search):
    for question in sys.stdin:
        print(json.dumps(search(json.loads(question))), file=answers, flush=True)
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
