"""The note of the story, before and after its first fruit."""

T45 = "# Tomatoes\n\n- Planted 6 seedlings on 12 May.\n"
FRUIT = "- First fruit on 20 June.\n"
T71 = T45 + FRUIT
